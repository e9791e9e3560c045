import type { FeedState } from "@ehdb/contracts";
import {
  asideKey,
  commitKey,
  decodeAside,
  decodeCommit,
  decodeHead,
  decodePage,
  pageKey,
  parseKey,
} from "./group-format.ts";
import type { Aside, GroupHead, PendingEntry } from "./group-format.ts";
import { GroupContents } from "./group-contents.ts";
import type { GroupContext } from "./group-contents.ts";
import { PendingMessage } from "./pending-message.ts";

/** What a state holds of a group. Without a head it's what is left of one that was deleted. */
interface Found {
  head: GroupHead | undefined;
  readonly pages: Map<number, { readonly generation: number; readonly entries: readonly PendingEntry[] }>;
  readonly asides: Map<number, Aside>;
  /** Generations of commits that acknowledged, by message. */
  readonly commits: Map<number, number>;
}

export interface LoadedGroups<R> {
  readonly groups: readonly GroupContents<R>[];
  /** Nothing has it yet. */
  readonly nextId: number;
  /** What is left of groups that were deleted. */
  readonly leftovers: readonly string[];
}

/** The groups of a state, as they were. */
export async function loadGroups<R>(context: GroupContext<R>): Promise<LoadedGroups<R>> {
  const found = await readState(context.state);
  const groups: GroupContents<R>[] = [];
  const leftovers: string[] = [];
  for (const [id, kept] of found) {
    if (kept.head === undefined) leftovers.push(...keysOf(id, kept));
    else groups.push(restored(context, id, kept.head, kept));
  }
  return { groups, nextId: [...found.keys()].reduce((most, id) => Math.max(most, id), 0) + 1, leftovers };
}

async function readState(state: FeedState): Promise<Map<number, Found>> {
  const found = new Map<number, Found>();
  for await (const entries of state.load()) {
    for (const { key, value } of entries) {
      const parsed = parseKey(key);
      let group = found.get(parsed.id);
      if (group === undefined)
        found.set(parsed.id, (group = { head: undefined, pages: new Map(), asides: new Map(), commits: new Map() }));
      if (parsed.kind === "group") group.head = decodeHead(key, value);
      else if (parsed.kind === "page") group.pages.set(parsed.number, decodePage(key, value));
      else if (parsed.kind === "aside") group.asides.set(parsed.number, decodeAside(key, value));
      else group.commits.set(parsed.number, decodeCommit(key, value));
    }
  }
  return found;
}

/** What lies in pages from `next` on was never said to be delivered, and what a commit has acknowledged is done. */
function restored<R>(context: GroupContext<R>, id: number, head: GroupHead, found: Found): GroupContents<R> {
  const contents = new GroupContents(context, id, head);
  const { records, pending, lot } = contents;
  const isDone = (sequence: number): boolean => found.commits.get(sequence) === head.generation;
  for (const [number, { generation, entries }] of [...found.pages].sort(([a], [b]) => a - b)) {
    const page = records.pages.stored(number);
    const holding = entries.filter(
      ({ sequence }) => sequence < head.next && !found.asides.has(sequence) && !isDone(sequence),
    );
    if (generation !== head.generation || holding.length < entries.length) records.pages.touch(page);
    if (generation !== head.generation) continue;
    for (const entry of holding) {
      const message = new PendingMessage(entry.sequence, page, undefined);
      records.pages.add(message, page);
      restore(contents, message, entry);
    }
  }
  for (const [sequence, aside] of found.asides) {
    if (isDone(sequence)) records.touchAside(sequence);
    else if (aside.parked !== undefined) lot.add(sequence, aside.parked);
    else restore(contents, new PendingMessage(sequence, undefined, undefined), aside.replayed);
  }
  for (const sequence of found.commits.keys()) {
    if (isDone(sequence) && sequence >= head.next) records.doneAhead.add(sequence);
    else records.dropMark(sequence);
  }
  if (contents.isInOrder) contents.unkeyed = new Set(contents.messages());
  return contents;

  function restore(to: GroupContents<R>, message: PendingMessage, entry: PendingEntry): void {
    message.deliveries = entry.deliveries;
    message.dueAt = entry.dueAt;
    pending.add(message);
    if (entry.isLeased) to.pending.restoreLease(message, entry.member, entry.dueAt);
  }
}

function keysOf(id: number, { pages, asides, commits }: Found): string[] {
  return [
    ...[...pages.keys()].map((number) => pageKey(id, number)),
    ...[...asides.keys()].map((sequence) => asideKey(id, sequence)),
    ...[...commits.keys()].map((sequence) => commitKey(id, sequence)),
  ];
}
