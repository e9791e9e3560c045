import {
  BATCH_HEADER_BYTES,
  batchBytes,
  DATA_START,
  decodeBatchHeader,
  decodeSegmentHeader,
  saltSeed,
  sealBatch,
} from "../src/format.ts";
import type { BatchHeader } from "../src/format.ts";
import { DIRECTORY } from "./context.ts";
import type { Run } from "./context.ts";
import { alone } from "./opening.ts";

/**
 * Puts behind the newest segment's last batch what a disk may have left there: one of its batches once more, or,
 * from another segment, a batch of just the right size, number, sequence and chain. Neither may pass for the log's next batch.
 */
export async function plantLeftover(run: Run): Promise<void> {
  await alone(run, "planting a leftover", async () => {
    const { files } = run.host;
    if ((await files.stat(DIRECTORY)) === undefined) return;
    const names = (await files.list(DIRECTORY).catch(() => [])).filter((name) => name.endsWith(".segment"));
    for (const name of names.toReversed()) {
      const path = `${DIRECTORY}/${name}`;
      const end = endOf(run, Buffer.from(run.host.content(path)), path);
      if (end === undefined) continue;
      const file = await files.open(path, "write");
      try {
        await file.write(run.random.chance(0.5) ? end.batch : stranger(run, end), end.offset);
        await file.dataSync();
        run.counts.leftovers++;
      } catch {
        // A part of it may be there: that's a leftover, too.
      }
      await file.close();
      return;
    }
  });
}

interface End {
  readonly offset: number;
  /** One of the batches that carry records. */
  readonly batch: Buffer;
  readonly last: BatchHeader;
}

function endOf(run: Run, content: Buffer, path: string): End | undefined {
  const header = decodeSegmentHeader(content.subarray(0, DATA_START), path);
  if (header === undefined) return undefined;
  const seed = saltSeed(header.salt);
  let offset = DATA_START;
  let batch: Buffer | undefined;
  let last: BatchHeader | undefined;
  for (
    let next = decodeBatchHeader(content, offset, seed);
    next !== undefined;
    next = decodeBatchHeader(content, offset, seed)
  ) {
    const bytes = content.subarray(offset, offset + batchBytes(next));
    if (next.records > 0 && (batch === undefined || run.random.chance(0.4))) batch = bytes;
    last = next;
    offset += bytes.length;
  }
  const free = content.subarray(offset, offset + (batch?.length ?? 0)).every((byte) => byte === 0);
  return batch === undefined || last === undefined || !free ? undefined : { offset, batch, last };
}

/** The batch that would come next, had it been written to a segment of another salt. */
function stranger(run: Run, { batch, last }: End): Buffer {
  const bytes = Buffer.from(batch);
  const seed = saltSeed(Buffer.alloc(32, run.random.between(0, 255)));
  sealBatch(
    bytes,
    {
      ...last,
      flags: 0,
      bodyBytes: bytes.readUInt32LE(8),
      records: bytes.readUInt32LE(12),
      firstSequence: last.firstSequence + last.records,
      previousCrc: last.crc,
      number: last.number + 1,
    },
    seed,
  );
  return bytes.subarray(0, Math.max(bytes.length, BATCH_HEADER_BYTES));
}
