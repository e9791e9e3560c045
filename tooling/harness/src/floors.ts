/**
 * The floors: bare loops that do only the unavoidable work, over Node's own files. They share no code with any engine, and
 * stand in this one file so that they can be read in one go. Each proves that it did the work.
 */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync, read, readSync, write, writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { assertCount, assertWork } from "./work-proof.ts";
import type { WorkProof } from "./work-proof.ts";

const dataSync = promisify(fdatasync);
const readAt = promisify(read);
const writeAt = promisify(write);
const chunkBytes = 256 * 1024;

/** Calls in groups: nanoseconds a call of each group, and calls a second over the whole. */
export interface CallFigure {
  readonly nanosPerCall: Float64Array;
  readonly perSecond: number;
}

/** Operations a second, and the milliseconds that each took. */
export interface LatencyFigure {
  readonly perSecond: number;
  readonly millis: Float64Array;
}

/** Makes a file of `bytes` zeros that are on disk: what is written into it later costs no new blocks. */
export async function zeroFilled(path: string, bytes: number): Promise<void> {
  const file = openSync(path, "w");
  try {
    const zeros = Buffer.alloc(1024 * 1024);
    for (let at = 0; at < bytes; at += zeros.length) {
      writeSync(file, zeros, 0, Math.min(zeros.length, bytes - at), at);
      await turn();
    }
    await dataSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * `append`, the call alone: copies the same bytes with a length before each into buffers of 256 KiB. Garbage is collected in the
 * middle, when the process allows it: whoever measures a call against this does the same.
 */
export function copyLoop(records: readonly Uint8Array[], calls: number, group: number): CallFigure {
  const nanosPerCall = new Float64Array(Math.floor(calls / group));
  const bufferBytes = records.reduce((most, { length }) => Math.max(most, length + 4), chunkBytes);
  const buffers = Array.from({ length: 8 }, () => Buffer.allocUnsafeSlow(bufferBytes));
  let buffer = buffers[0] as Buffer;
  let [filled, at, copied, wanted, total] = [0, 0, 0, 0, 0];
  for (let g = 0; g < nanosPerCall.length; g++) {
    const start = process.hrtime.bigint();
    if (g === nanosPerCall.length >> 1) globalThis.gc?.();
    for (let i = 0; i < group; i++) {
      const record = records[(g * group + i) % records.length] as Uint8Array;
      if (at + 4 + record.length > bufferBytes) {
        buffer = buffers[++filled % buffers.length] as Buffer;
        copied += at;
        at = 0;
      }
      buffer.writeUInt32LE(record.length, at);
      buffer.set(record, at + 4);
      at += 4 + record.length;
    }
    const nanos = Number(process.hrtime.bigint() - start);
    total += nanos;
    nanosPerCall[g] = nanos / group;
    for (let i = 0; i < group; i++) wanted += 4 + (records[(g * group + i) % records.length] as Uint8Array).length;
  }
  assertCount("copy loop, bytes copied", copied + at, wanted);
  return { nanosPerCall, perSecond: (nanosPerCall.length * group * 1e9) / total };
}

/** Records a second, into zeros that were there before, and with the time that it took to fill them in. */
export interface WriteFigure {
  readonly perSecond: number;
  readonly perSecondWithZeros: number;
}

/** Appends that are synced once at the end: the copy loop, each full buffer written in place, one data sync. */
export async function copyAndWrite(path: string, records: readonly Uint8Array[], count: number): Promise<WriteFigure> {
  const bytes = totalBytes(records, count) + count * 4;
  const zeroStart = performance.now();
  await zeroFilled(path, bytes);
  const zeroMillis = performance.now() - zeroStart;
  const file = openSync(path, "r+");
  try {
    const buffer = Buffer.allocUnsafeSlow(chunkBytes);
    let [at, position] = [0, 0];
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const record = records[i % records.length] as Uint8Array;
      if (at + 4 + record.length > chunkBytes) {
        position += writeSync(file, buffer, 0, at, position);
        at = 0;
        await turn();
      }
      buffer.writeUInt32LE(record.length, at);
      buffer.set(record, at + 4);
      at += 4 + record.length;
    }
    position += writeSync(file, buffer, 0, at, position);
    await dataSync(file);
    assertCount("copy and write, bytes written", position, bytes);
    const millis = performance.now() - start;
    return { perSecond: (count * 1000) / millis, perSecondWithZeros: (count * 1000) / (millis + zeroMillis) };
  } finally {
    closeSync(file);
  }
}

/**
 * Durable appends with `inFlight` callers, each waiting for its own before the next one: while one positioned write is synced,
 * what the callers hand in next is gathered, and goes out as one write. `encode` makes a caller's record, the same as the one given,
 * inside the timed region. `committed` is handed what was synced, and the next sync waits for what it returns.
 */
export async function groupCommit(
  path: string,
  records: readonly Uint8Array[],
  count: number,
  inFlight: number,
  encode: (index: number) => Uint8Array = (index) => records[index % records.length] as Uint8Array,
  committed?: (bytes: Uint8Array) => Promise<void> | undefined,
): Promise<LatencyFigure> {
  const bytes = totalBytes(records, count);
  await zeroFilled(path, bytes);
  const file = openSync(path, "r+");
  try {
    const millis = new Float64Array(count);
    let [position, done, next] = [0, 0, 0];
    let gathered: Uint8Array[] = [];
    let waiting: (() => void)[] = [];
    let running = false;
    const commit = async (): Promise<void> => {
      running = true;
      await turn();
      while (gathered.length > 0) {
        const [out, waiters] = [gathered, waiting];
        [gathered, waiting] = [[], []];
        const joined = out.length === 1 ? (out[0] as Uint8Array) : Buffer.concat(out);
        position += writeSync(file, joined, 0, joined.length, position);
        await dataSync(file);
        for (const resolve of waiters) resolve();
        await committed?.(joined);
        await turn();
      }
      running = false;
    };
    const append = (record: Uint8Array): Promise<void> =>
      new Promise((resolve) => {
        gathered.push(record);
        waiting.push(resolve);
        if (!running) void commit();
      });
    const caller = async (): Promise<void> => {
      while (next < count) {
        const index = next++;
        const start = performance.now();
        await append(encode(index));
        millis[index] = performance.now() - start;
        done++;
      }
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: inFlight }, caller));
    assertCount("group commit, appends done", done, count);
    assertCount("group commit, bytes written", position, bytes);
    return { perSecond: (count * 1000) / (performance.now() - start), millis };
  } finally {
    closeSync(file);
  }
}

/** Of `groupCommitTwice`: so many pieces may wait to be written again; beyond it appends wait. */
const mostWaiting = 3;

/**
 * The same by a store that keeps what it has logged: every byte is written and synced a second time, into files of `pieceBytes`, a
 * slice at a time in the thread pool, while appends go on. `path` gets a suffix for each. All is written when it resolves; the figure
 * ends with the last append, as does that of a store that is behind by as much.
 */
export async function groupCommitTwice(
  path: string,
  records: readonly Uint8Array[],
  count: number,
  inFlight: number,
  pieceBytes: number,
  encode: (index: number) => Uint8Array,
): Promise<LatencyFigure> {
  const [files, waiting]: [number[], Promise<void>[]] = [[], []];
  let [piece, pieceLength, writtenAgain]: [Uint8Array[], number, number] = [[], 0, 0];
  let lane: Promise<void> = Promise.resolve();
  const writeAgain = async (pieces: readonly Uint8Array[], file: number): Promise<void> => {
    const bytes = Buffer.concat(pieces);
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await writeAt(file, bytes, at, Math.min(4 * chunkBytes, bytes.length - at), at);
      at += bytesWritten;
    }
    await dataSync(file);
    writtenAgain += bytes.length;
  };
  const next = (): void => {
    const [pieces, file] = [piece, openSync(`${path}.${files.length}`, "w")];
    files.push(file);
    [piece, pieceLength] = [[], 0];
    lane = lane.then(() => writeAgain(pieces, file));
    waiting.push(lane);
    void lane.then(() => waiting.shift());
  };
  try {
    const figure = await groupCommit(path, records, count, inFlight, encode, (bytes) => {
      piece.push(bytes);
      pieceLength += bytes.length;
      if (pieceLength >= pieceBytes) next();
      return waiting.length >= mostWaiting ? waiting[0] : undefined;
    });
    if (pieceLength > 0) next();
    await lane;
    assertCount("group commit, bytes written again", writtenAgain, totalBytes(records, count));
    return figure;
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** One durable append at a time: a positioned write into zeros and an asynchronous data sync, nothing around them. */
export async function writeAndSync(
  path: string,
  records: readonly Uint8Array[],
  count: number,
): Promise<LatencyFigure> {
  const bytes = totalBytes(records, count);
  await zeroFilled(path, bytes);
  const file = openSync(path, "r+");
  try {
    const millis = new Float64Array(count);
    let position = 0;
    const begin = performance.now();
    for (let i = 0; i < count; i++) {
      const record = records[i % records.length] as Uint8Array;
      const start = performance.now();
      position += writeSync(file, record, 0, record.length, position);
      await dataSync(file);
      millis[i] = performance.now() - start;
    }
    assertCount("write and sync, bytes written", position, bytes);
    return { perSecond: (count * 1000) / (performance.now() - begin), millis };
  } finally {
    closeSync(file);
  }
}

/** The same, holding the thread. Appends a second. */
export async function writeAndSyncBlocking(
  path: string,
  records: readonly Uint8Array[],
  count: number,
): Promise<number> {
  const bytes = totalBytes(records, count);
  await zeroFilled(path, bytes);
  const file = openSync(path, "r+");
  try {
    let position = 0;
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const record = records[i % records.length] as Uint8Array;
      position += writeSync(file, record, 0, record.length, position);
      fdatasyncSync(file);
    }
    assertCount("write and blocking sync, bytes written", position, bytes);
    return (count * 1000) / (performance.now() - start);
  } finally {
    closeSync(file);
  }
}

/** What a sequential read went over. */
export interface SequentialRead extends WorkProof {
  readonly seconds: number;
}

/** Replay: reads files from start to end, a chunk at a time, and checks every byte with crc32. `count` counts bytes. */
export async function readAndVerify(paths: readonly string[], expected?: WorkProof): Promise<SequentialRead> {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  let [count, digest] = [0, 0];
  const start = performance.now();
  for (const path of paths) {
    const file = openSync(path, "r");
    try {
      for (let position = 0; ;) {
        const { bytesRead } = await readAt(file, buffer, 0, chunkBytes, position);
        if (bytesRead === 0) break;
        digest = crc32(buffer.subarray(0, bytesRead), digest);
        position += bytesRead;
        count += bytesRead;
      }
    } finally {
      closeSync(file);
    }
  }
  if (expected !== undefined) assertWork("read and verify", { count, digest }, expected);
  return { count, digest, seconds: (performance.now() - start) / 1000 };
}

/** Decodes JSON texts, one after the other. Texts a second. `fold` makes a number of each value, so that the work is seen. */
export function parseAll(texts: readonly Uint8Array[], count: number, fold: (value: unknown) => number): number {
  let sum = 0;
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    const text = texts[i % texts.length] as Uint8Array;
    sum += fold(JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString()));
  }
  const perSecond = (count * 1000) / (performance.now() - start);
  const once = texts.reduce((total, text) => total + fold(JSON.parse(Buffer.from(text).toString())), 0);
  if (count % texts.length === 0) assertCount("parse, what was read", sum, (count / texts.length) * once);
  return perSecond;
}

/** Point reads: one asynchronous read of `bytes` at each position. Microseconds of each. */
export async function readPoints(path: string, positions: readonly number[], bytes: number): Promise<Float64Array> {
  const file = openSync(path, "r");
  try {
    const micros = new Float64Array(positions.length);
    const buffer = Buffer.allocUnsafeSlow(bytes);
    for (const [index, position] of positions.entries()) {
      const start = performance.now();
      const { bytesRead } = await readAt(file, buffer, 0, bytes, position);
      micros[index] = (performance.now() - start) * 1000;
      assertCount(`point read at ${position}`, bytesRead, Math.min(bytes, fileBytes(file) - position));
    }
    return micros;
  } finally {
    closeSync(file);
  }
}

/** The same, holding the thread: what the page cache costs without a thread pool. */
export function readPointsBlocking(path: string, positions: readonly number[], bytes: number): Float64Array {
  const file = openSync(path, "r");
  try {
    const micros = new Float64Array(positions.length);
    const buffer = Buffer.allocUnsafeSlow(bytes);
    const size = fileBytes(file);
    for (const [index, position] of positions.entries()) {
      const start = performance.now();
      const got = readSync(file, buffer, 0, bytes, position);
      micros[index] = (performance.now() - start) * 1000;
      assertCount(`point read at ${position}`, got, Math.min(bytes, size - position));
    }
    return micros;
  } finally {
    closeSync(file);
  }
}

function fileBytes(file: number): number {
  return fstatSync(file).size;
}

/** Of `count` records, taken from `records` round and round. */
function totalBytes(records: readonly Uint8Array[], count: number): number {
  const round = records.reduce((sum, each) => sum + each.length, 0);
  const rest = records.slice(0, count % records.length).reduce((sum, each) => sum + each.length, 0);
  return Math.floor(count / records.length) * round + rest;
}
