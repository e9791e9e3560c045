import type { FeedStateChange } from "@ehdb/contracts";
import {
  asideKey,
  commitKey,
  encodeCommit,
  encodeHead,
  encodePage,
  encodeParked,
  encodeReplayed,
  groupKey,
  pageKey,
} from "./group-format.ts";
import type { GroupHead } from "./group-format.ts";
import { Pages } from "./pages.ts";
import type { ParkingLot } from "./parking-lot.ts";
import type { PendingMessage } from "./pending-message.ts";
import type { PendingMessages } from "./pending-messages.ts";
import type { Unsaved } from "./saver.ts";

interface Kept {
  readonly id: number;
  readonly head: () => GroupHead;
  readonly pending: PendingMessages;
  readonly lot: ParkingLot;
}

/**
 * What of a group has changed, as records of its state. Their order holds if they are written in pieces: a message that leaves a page is aside before; the head says
 * how far pages go, so it comes after them, unless it voids them all; and a commit's mark goes last.
 */
export class GroupRecords {
  readonly pages: Pages = new Pages();
  /** Messages from `next` on that are done with: acknowledged by commits whose leases weren't written, or after a replay. Going over them doesn't deliver them. */
  readonly doneAhead: Set<number> = new Set();
  readonly #kept: Kept;
  #asides = new Set<number>();
  /** Messages whose marks aren't needed any more, and those that need one. */
  #marks = new Set<number>();
  #newMarks = new Set<number>();
  #isHeadDirty = false;
  #voidsPages = false;

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  touch({ page, sequence }: PendingMessage): void {
    if (page === undefined) this.#asides.add(sequence);
    else this.pages.touch(page);
  }

  touchAside(sequence: number): void {
    this.#asides.add(sequence);
  }

  touchHead(): void {
    this.#isHeadDirty = true;
  }

  /** The group goes on elsewhere, in another generation. */
  voidPages(): void {
    this.pages.clear();
    this.#isHeadDirty = true;
    this.#voidsPages = true;
  }

  /** What the message was acknowledged with goes with the next write. */
  dropMark(sequence: number): void {
    this.#newMarks.delete(sequence);
    this.#marks.add(sequence);
  }

  /** It's done with before the group comes by. */
  addDoneAhead(sequence: number): void {
    this.doneAhead.add(sequence);
    this.#marks.delete(sequence);
    this.#newMarks.add(sequence);
  }

  /** It's acknowledged with a commit again. */
  keepMark(sequence: number): void {
    this.#marks.delete(sequence);
  }

  /** What was written may be gone: all is written again. */
  touchAll(): void {
    const { pending, lot } = this.#kept;
    this.#isHeadDirty = true;
    this.pages.touchAll();
    for (const sequence of this.doneAhead) this.#newMarks.add(sequence);
    for (const sequence of [...pending.replayed.keys(), ...lot.sequences]) this.#asides.add(sequence);
  }

  take(): Unsaved {
    const [asides, marks, hasHead, voids] = [this.#asides, this.#marks, this.#isHeadDirty, this.#voidsPages];
    const newMarks = this.#newMarks;
    const pages = this.pages.takeDirty();
    this.#asides = new Set();
    this.#marks = new Set();
    this.#newMarks = new Set();
    this.#isHeadDirty = this.#voidsPages = false;
    const { id, head } = this.#kept;
    const ofHead = hasHead ? [{ key: groupKey(id), value: encodeHead(head()) }] : [];
    const { generation } = head();
    const changes: FeedStateChange[] = [
      ...(voids ? ofHead : []),
      ...[...newMarks].map((sequence) => ({ key: commitKey(id, sequence), value: encodeCommit(generation) })),
      ...[...asides].map((sequence) => this.#aside(sequence)),
    ];
    for (const page of pages) {
      const { number, messages, isStored } = page;
      page.isStored = messages.length > 0;
      if (page.isStored) changes.push({ key: pageKey(id, number), value: encodePage(generation, messages) });
      else if (isStored) changes.push({ key: pageKey(id, number), value: undefined });
    }
    if (!voids) changes.push(...ofHead);
    for (const sequence of marks) changes.push({ key: commitKey(id, sequence), value: undefined });
    return { changes, putBack: () => this.#putBack(asides, marks, newMarks, hasHead, voids, pages) };
  }

  /** All that may be in the state, to be deleted. */
  all(): FeedStateChange[] {
    const { id, pending, lot } = this.#kept;
    const sequences = [...pending.replayed.keys(), ...lot.sequences, ...this.#asides];
    const keys = [
      groupKey(id),
      ...[...this.pages.all].map(({ number }) => pageKey(id, number)),
      ...sequences.map((sequence) => asideKey(id, sequence)),
      ...[...this.#marks, ...this.doneAhead].map((sequence) => commitKey(id, sequence)),
    ];
    return keys.map((key) => ({ key, value: undefined }));
  }

  #aside(sequence: number): FeedStateChange {
    const { id, lot, pending } = this.#kept;
    const [parked, replayed] = [lot.get(sequence), pending.replayed.get(sequence)];
    const value = parked ? encodeParked(parked) : replayed && encodeReplayed(replayed);
    return { key: asideKey(id, sequence), value };
  }

  #putBack(
    asides: ReadonlySet<number>,
    marks: ReadonlySet<number>,
    newMarks: ReadonlySet<number>,
    hasHead: boolean,
    voids: boolean,
    pages: Parameters<Pages["putBack"]>[0],
  ): void {
    for (const sequence of asides) this.#asides.add(sequence);
    for (const sequence of marks) if (!this.doneAhead.has(sequence)) this.#marks.add(sequence);
    for (const sequence of newMarks) if (this.doneAhead.has(sequence)) this.#newMarks.add(sequence);
    this.#isHeadDirty ||= hasHead;
    this.#voidsPages ||= voids;
    this.pages.putBack(pages);
  }
}
