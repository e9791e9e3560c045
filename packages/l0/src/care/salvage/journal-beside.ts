import { join } from "node:path";
import { isEhdbError } from "@ehdb/contracts";
import { openJournalReader, salvage } from "@ehdb/journal";
import type { StoreDamage } from "../damage.ts";
import { journalEnd } from "../journal-end.ts";
import type { NewStore } from "./new-store.ts";
import type { Salvaging } from "./salvage-store.ts";

/** The whole commits of the journal, in one of its own beside the new store's. */
export interface CommitsBeside {
  readonly directory: string;
  readonly first: number;
  /** Of those that are whole, or known to be lost. */
  readonly last: number;
  /** Whether it has all of them. */
  readonly has: (first: number, last: number) => boolean;
}

type Lost = Awaited<ReturnType<typeof salvage>>["lost"];

export interface SalvagedJournal {
  /** `undefined` when nothing of it can be read. */
  readonly journal: CommitsBeside | undefined;
  readonly lost: Lost;
  /** Why there is nothing. */
  readonly reason: string;
}

export async function salvageJournal({ host, dir, directory, encryption }: Salvaging): Promise<SalvagedJournal> {
  const beside = join(directory, "salvaged");
  const keys = encryption && { encryption };
  try {
    const { lost } = await salvage({ dir: join(dir, "journal"), to: beside, host, ...keys });
    const reader = await openJournalReader({ dir: beside, host, ...keys });
    const { first, last } = reader;
    await reader.close();
    const has = (one: number, other: number): boolean =>
      first <= one && other <= last && !lost.some((gap) => gap.first <= other && one <= gap.last);
    const known = Math.max(last, ...lost.map((gap) => gap.last));
    return { journal: { directory: beside, first, last: known, has }, lost, reason: "" };
  } catch (error) {
    if (!isEhdbError(error, "NOT_FOUND", "CORRUPT")) throw error;
    return { journal: undefined, lost: [], reason: `nothing of the journal can be read: ${error.message}` };
  }
}

/** What the new store lacks, going by the journal. What is in parts isn't lost with it. */
export async function reckonJournal(
  { host, dir }: Salvaging,
  store: NewStore,
  { journal, lost, reason }: SalvagedJournal,
): Promise<void> {
  const { sealedThrough } = store;
  for (const { file, offset, reason: why, first, last } of lost) {
    const place = { kind: "journal", file, offset, reason: why } as const;
    store.damage.push({ ...place, firstRevision: first, lastRevision: last });
    if (last > sealedThrough)
      store.lost.push({ ...place, firstRevision: Math.max(first, sealedThrough + 1), lastRevision: last });
  }
  const isLost = (why: string, place: Pick<StoreDamage, "file" | "offset">, lastRevision?: number): void => {
    const revisions = { firstRevision: sealedThrough + 1, ...(lastRevision !== undefined && { lastRevision }) };
    const damage = { kind: "journal", ...place, reason: why, ...revisions } as const;
    store.damage.push(damage);
    store.lost.push(damage);
  };
  const whole = { file: join(dir, "journal"), offset: 0 };
  if (journal === undefined) isLost(reason, whole);
  else if (journal.first > sealedThrough + 1)
    isLost(
      `the journal begins at ${journal.first}, and no part that was found holds what lies before it: an edit of the manifest is lost`,
      whole,
      journal.first - 1,
    );
  else if (journal.last < sealedThrough)
    isLost(
      `the journal ends at ${journal.last}, and commits up to ${sealedThrough} were in parts: its end is missing, and whatever was committed later`,
      await journalEnd(host, dir),
    );
}
