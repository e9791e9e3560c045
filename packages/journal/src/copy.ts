import { throwIfAborted } from "@ehdb/contracts";
import type { CopyJournalOptions, CopyJournalReport, JournalRecord } from "./api.ts";
import { checkSequence } from "./arguments.ts";
import { varintBytes, writeFrame } from "./frames.ts";
import type { OpenJournal } from "./journal.ts";
import { machineError } from "./machine-error.ts";
import { resolveCopyOptions } from "./options.ts";
import { makeJournal } from "./unfinished.ts";

/**
 * Copies records of a journal, which may go on meanwhile, into a new one: with the same sequences, batches, times and epochs. Errors:
 * INVALID_OPTION, INVALID_ARGUMENT, ALREADY_EXISTS (`to` holds something), COMPACTED (hold them back: `Journal.hold`), CORRUPT, NO_SPACE,
 * IO_ERROR, ABORTED.
 */
export async function copyJournal(options: CopyJournalOptions): Promise<CopyJournalReport> {
  const { host, to, encryption, from, first, last, leastEpoch, signal, onBytes } = resolveCopyOptions(options);
  checkSequence("first", first, 1);
  checkSequence("last", last, 0);
  let [records, bytes] = [0, 0];
  const fill = async (target: OpenJournal): Promise<CopyJournalReport> => {
    if (first > 1) await target.writer.skipTo(first);
    if (from !== undefined && last >= first) {
      const stream = from.scan({ from: first, to: last, ...(signal && { signal }) });
      for await (const batch of stream.batches()) {
        throwIfAborted(signal, "copyJournal()");
        const body = framed(batch);
        const { epoch, time, sequence } = batch[0] as JournalRecord;
        // What a salvage couldn't save is missing in the copy as well.
        if (sequence > target.writer.intake.appended + 1) await target.writer.skipTo(sequence);
        await target.writer.insert({ flags: 0, body, records: batch.length, epoch, time });
        records += batch.length;
        bytes += body.length;
        onBytes?.(bytes);
      }
    }
    await target.flush();
    // The epoch of the record below isn't known: nobody reads on from there.
    if (first > 1) await target.dropBelow({ sequence: first, epoch: 0 });
    return { records, bytes };
  };
  try {
    return await makeJournal({ host, to, encryption, leastEpoch }, fill);
  } catch (error) {
    throw machineError(error, "copyJournal()", to);
  }
}

/** A batch's body. */
function framed(records: readonly JournalRecord[]): Buffer {
  const body = Buffer.allocUnsafe(records.reduce((sum, { data }) => sum + varintBytes(data.length) + data.length, 0));
  let at = 0;
  for (const { data } of records) at = writeFrame(body, at, data, data.length);
  return body;
}
