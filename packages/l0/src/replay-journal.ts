import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { JournalReader } from "@ehdb/journal";
import { isFull } from "./fullness.ts";
import type { Fullness } from "./fullness.ts";
import type { Store } from "./store.ts";

export interface ReplaySource {
  readonly host: Host;
  readonly journal: Pick<JournalReader, "first" | "last" | "scan">;
  readonly fullness: Fullness;
}

/** Reads into memory the journal's commits behind the store's last one, up to `to`. CORRUPT when one can't be read back, or some are missing. */
export async function replayJournal(
  { host, journal, fullness }: ReplaySource,
  store: Store,
  to: number,
): Promise<void> {
  const from = store.accepted + 1;
  if (from > to) return;
  for await (const batch of journal.scan({ from, to }).batches()) {
    for (const { sequence, data } of batch) {
      assertNext(journal, sequence, store.accepted);
      const { active } = store;
      active.begunMillis ??= host.clock.monotonic();
      active.replay(asBuffer(data), store.byId);
      if (isFull(active, fullness)) store.freeze();
    }
    await host.clock.yield();
  }
  assertNext(journal, to + 1, store.accepted);
}

/** A commit's sequence is its revision: a journal that was salvaged may lack some. */
function assertNext({ first, last }: ReplaySource["journal"], sequence: number, accepted: number): void {
  if (sequence === accepted + 1) return;
  const message = `the journal has lost commits ${accepted + 1} to ${sequence - 1}: what comes behind may rest on them. Nothing was changed. Open a copy of the store from before`;
  throw new EhdbError("CORRUPT", message, { first, last, lostFrom: accepted + 1, lostTo: sequence - 1 });
}

function asBuffer(data: Uint8Array): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
