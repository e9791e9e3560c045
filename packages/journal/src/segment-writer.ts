import type { File } from "@ehdb/host";
import type { KeyRing } from "./api.ts";
import type { SegmentCipher } from "./cipher.ts";
import { KEY_CHECK_BYTES, segmentCipher, TAG_BYTES } from "./cipher.ts";
import {
  BATCH_HEADER_BYTES,
  DATA_START,
  encodePreamble,
  encodeSegmentHeader,
  flag,
  LOW_WATER_BODY_BYTES,
  OPEN_BODY_BYTES,
  padded,
  SALT_BYTES,
  saltSeed,
  sealBatch,
  writeHeaderFields,
} from "./format.ts";
import type { BatchHeader, Preamble } from "./format.ts";
import { segmentLockPlace } from "./lock.ts";
import { inodeOf } from "./owned.ts";
import { Segment, segmentPath } from "./segment.ts";
import type { LoadContext } from "./segment.ts";

/** What the caller says of a batch; the segment adds its number and the chain. */
export type BatchFields = Pick<BatchHeader, "records" | "firstSequence" | "durable" | "epoch" | "time" | "flags">;

export const OPEN_BATCH_BYTES: number = padded(BATCH_HEADER_BYTES + OPEN_BODY_BYTES);
/** Of the largest mark. */
export const MARK_BYTES: number = padded(BATCH_HEADER_BYTES + LOW_WATER_BODY_BYTES);

/** A segment that this process writes. Offsets only grow: nothing is ever written twice. */
export class SegmentWriter {
  readonly id: number;
  readonly path: string;
  readonly file: File;
  readonly salt: Uint8Array;
  readonly seed: number;
  readonly keyId: string;
  readonly cipher: SegmentCipher | undefined;
  /** Where it is full. */
  capacity: number;
  /** Zeros have been written up to here. */
  zeroed: number = DATA_START;
  /** Batches have been given room up to here. */
  admitted: number = DATA_START + OPEN_BATCH_BYTES;
  /** Batches have been written up to here, and are synced up to `synced`. */
  position: number = DATA_START;
  synced: number = DATA_START;
  /** How many batches the syncs so far hold: each later one states it. */
  syncedBatches = 0;
  writtenLast = 0;
  /** The sequence that the next batch must have. */
  nextSequence = 1;
  /** What the file is that has its name. */
  inode = 0;
  segment: Segment | undefined;
  #number = 0;
  #lastCrc = 0;

  constructor(
    id: number,
    path: string,
    file: File,
    salt: Uint8Array,
    keyId: string,
    cipher: SegmentCipher | undefined,
    capacity: number,
  ) {
    this.id = id;
    this.path = path;
    this.file = file;
    this.salt = salt;
    this.seed = saltSeed(salt);
    this.keyId = keyId;
    this.cipher = cipher;
    this.capacity = capacity;
  }

  /** Batches sealed so far. */
  get batches(): number {
    return this.#number;
  }

  get lastCrc(): number {
    return this.#lastCrc;
  }

  /** Completes a batch in its buffer, encrypted where the segment is, and returns the bytes to write at `position`. */
  seal(buffer: Buffer, plainBytes: number, fields: BatchFields): Buffer {
    const plain = this.cipher === undefined || fields.records === 0;
    const bodyBytes = plainBytes + (plain ? 0 : TAG_BYTES);
    const flags = plain ? fields.flags : fields.flags | flag.encrypted;
    const header: Omit<BatchHeader, "crc"> = {
      ...fields,
      flags,
      bodyBytes,
      previousCrc: this.#lastCrc,
      number: this.#number,
      synced: this.syncedBatches,
    };
    if (!plain) {
      writeHeaderFields(buffer, header);
      this.cipher?.encrypt(buffer, plainBytes, this.#number);
    }
    this.#lastCrc = sealBatch(buffer, header, this.seed);
    this.#number++;
    return buffer.subarray(0, padded(BATCH_HEADER_BYTES + bodyBytes));
  }

  /** Notes that what `seal` returned has been written. */
  wrote(bytes: number, fields: BatchFields, next: number = fields.firstSequence + fields.records): void {
    const offset = this.position;
    this.position += bytes;
    this.nextSequence = next;
    this.writtenLast = Math.max(this.writtenLast, next - 1);
    const segment = this.segment;
    if (segment === undefined) return;
    if (fields.records > 0) {
      segment.index.add(fields.firstSequence, offset);
      segment.lastMillis = fields.time;
    }
    segment.end = this.position;
    segment.last = Math.max(segment.last, this.writtenLast);
    segment.lastCrc = this.#lastCrc;
  }

  /** The segment's first batch: from now on it is part of the log. */
  open(
    preamble: Omit<Preamble, "keyCheck">,
    fields: Pick<BatchFields, "durable" | "epoch" | "time">,
    indexStride: number,
  ): Buffer {
    const complete = { ...preamble, keyCheck: this.cipher?.keyCheck ?? new Uint8Array(KEY_CHECK_BYTES) };
    const buffer = Buffer.alloc(OPEN_BATCH_BYTES);
    encodePreamble(complete).copy(buffer, BATCH_HEADER_BYTES);
    this.#lastCrc = preamble.predecessorCrc;
    const bytes = this.seal(buffer, OPEN_BODY_BYTES, {
      ...fields,
      records: 0,
      firstSequence: preamble.firstSequence,
      flags: flag.open,
    });
    this.segment = new Segment(
      { id: this.id, salt: this.salt, keyId: this.keyId },
      this.path,
      {
        preamble: complete,
        epoch: fields.epoch,
        time: fields.time,
        crc: this.#lastCrc,
        end: DATA_START + bytes.length,
      },
      this.cipher,
      indexStride,
    );
    this.segment.index.complete = true;
    this.nextSequence = preamble.firstSequence;
    this.writtenLast = preamble.firstSequence - 1;
    return bytes;
  }
}

/** Where segments are made; `encryption` has a current key. */
export interface WriteContext extends LoadContext {
  readonly encryption: KeyRing | undefined;
}

/** What a new segment is made of. */
export interface NewSegment {
  readonly id: number;
  readonly capacity: number;
  /** Zeros written and synced with the header. */
  readonly zeroBytes: number;
  /** Written under the temporary name, before the sync. */
  readonly content?: (writer: SegmentWriter) => Promise<void>;
}

/**
 * Makes a segment under a temporary name, syncs it, gives it its final name and syncs the directory; only then may it be
 * used. Leaves nothing behind when it fails.
 */
export async function createSegment(context: WriteContext, wanted: NewSegment): Promise<SegmentWriter> {
  const { files, random } = context.host;
  const path = segmentPath(context.dir, wanted.id);
  const temporary = `${path}.${random.id()}.tmp`;
  const salt = random.bytes(SALT_BYTES);
  const keyId = context.encryption?.current ?? "";
  const cipher = segmentCipher(context.encryption, keyId, salt, path);
  const file = await files.open(temporary, "create");
  try {
    file.tryLockByte(await segmentLockPlace(context.host, context.dir));
    const header = Buffer.alloc(DATA_START);
    encodeSegmentHeader({ id: wanted.id, salt, keyId }).copy(header);
    await file.write(header, 0);
    const writer = new SegmentWriter(wanted.id, path, file, salt, keyId, cipher, wanted.capacity);
    await wanted.content?.(writer);
    const end = Math.max(writer.position, DATA_START) + wanted.zeroBytes;
    await file.preallocate(writer.position, end - writer.position);
    await file.dataSync();
    await files.rename(temporary, path);
    await files.syncDirectory(context.dir);
    writer.inode = await inodeOf(context.host, path);
    writer.zeroed = end;
    writer.synced = writer.position;
    writer.syncedBatches = writer.batches;
    if (wanted.content !== undefined) writer.admitted = writer.position;
    return writer;
  } catch (error) {
    await file.close();
    for (const name of [temporary, path]) await files.remove(name).catch(ignoreMissing);
    throw error;
  }
}

/** Cleaning up behind a failure that is reported itself; what stays behind under a temporary name goes at the next open. */
function ignoreMissing(): void {}
