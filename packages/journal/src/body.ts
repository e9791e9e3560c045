import { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { JournalRecord } from "./api.ts";
import { wrongKey } from "./cipher.ts";
import { corrupt } from "./damage.ts";
import { inflateBody } from "./deflate.ts";
import { flag } from "./format.ts";
import { readFrames } from "./frames.ts";
import type { Segment } from "./segment.ts";
import type { RawBatch } from "./walker.ts";

/** The body as it was before encryption; still compressed when it is. */
export function plainBody(segment: Segment, batch: RawBatch): Buffer {
  const { flags, bodyBytes, number } = batch.header;
  if ((flags & flag.encrypted) === 0) return batch.body;
  const plain = segment.cipher?.decrypt(batch.bytes, bodyBytes, number);
  if (plain === undefined) throw wrongKey(segment.path, segment.keyId);
  return plain;
}

/** The records of a batch. CORRUPT when its body doesn't hold them although its checksum fits. */
export async function decodeRecords(host: Host, segment: Segment, batch: RawBatch): Promise<JournalRecord[]> {
  const { flags, records, firstSequence, time, epoch } = batch.header;
  let body = plainBody(segment, batch);
  if ((flags & flag.compressed) !== 0) {
    const whole = await host.workers.run(inflateBody, body).catch((error: unknown) => {
      throw undecodable(segment, batch, "its body doesn't decompress", error);
    });
    body = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength);
  }
  const frames = readFrames(body, records);
  if (frames === undefined) throw undecodable(segment, batch, "its records don't fill its body");
  return frames.map((data, i) => ({ sequence: firstSequence + i, data, time, epoch }));
}

function undecodable(segment: Segment, batch: RawBatch, reason: string, cause?: unknown): unknown {
  if (cause instanceof EhdbError) return cause;
  const { firstSequence, records } = batch.header;
  return corrupt({
    file: segment.path,
    offset: batch.offset,
    first: firstSequence,
    last: firstSequence + records - 1,
    reason,
  });
}
