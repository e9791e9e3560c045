import { assertWork, proofOf, roundAndRound, SampledDigest, withDirectory } from "@ehdb/harness";
import type { BenchContext, WorkProof } from "@ehdb/harness";
import { openJournal } from "@ehdb/journal";
import type { Journal, JournalOptions, JournalReader } from "@ehdb/journal";

/** Calls with a new journal; closes and removes it afterwards. */
export async function withJournal<T>(
  { directory }: BenchContext,
  options: Omit<JournalOptions, "dir">,
  use: (journal: Journal) => Promise<T>,
): Promise<T> {
  return await withDirectory(directory, async (dir) => {
    const journal = await openJournal({ ...options, dir });
    try {
      return await use(journal);
    } finally {
      await journal.close();
    }
  });
}

/** Fills a journal with `count` records, taken round and round, in batches of `batch`. */
export async function fill(
  journal: Journal,
  records: readonly Uint8Array[],
  count: number,
  batch: number,
): Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  for (let at = 0; at < count; at += batch) {
    await journal.ready(batch * 2048);
    last = journal.appendAllDurable(roundAndRound(records, at, Math.min(batch, count - at)));
    // A failure is told by the last one's await: after one, all later ones fail as well.
    last.catch(() => {});
  }
  await last;
}

/** What a faultless read of `count` records, taken round and round from the `first`-th on, must come to. */
export function expectedProof(records: readonly Uint8Array[], first: number, count: number): WorkProof {
  return proofOf(new SampledDigest(), roundAndRound(records, first, count));
}

/** After the clock has stopped: the journal holds exactly these records, in order. */
export async function assertHolds(
  journal: JournalReader,
  records: readonly Uint8Array[],
  count: number,
): Promise<void> {
  const proof = new SampledDigest();
  for await (const batch of journal.scan().batches()) for (const { data } of batch) proof.add(data);
  assertWork("what the journal holds", proof, expectedProof(records, 0, count));
}
