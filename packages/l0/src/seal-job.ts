import type { DatasetOrder } from "@ehdb/contracts";
import { EhdbError } from "@ehdb/contracts";
import type { Job } from "@ehdb/host";
import { chunkOf, offsetOf } from "./chunks.ts";
import type { Place } from "./chunks.ts";
import { COMMIT_HEADER_BYTES, datasetAt, keyAt, opEnd } from "./envelope.ts";
import { verifyBuilt } from "./part/built-part.ts";
import { PartBuilder } from "./part/part-builder.ts";

/** A frozen generation for another thread: its chunks are shared, not copied. */
export interface FrozenGeneration {
  readonly chunks: readonly SharedArrayBuffer[];
  readonly firstRevision: number;
  /** All of it is of the first one: an import. */
  readonly isOneRevision?: boolean;
  readonly places: Float64Array;
  readonly ends: Float64Array;
}

export interface SealInput {
  readonly generations: readonly FrozenGeneration[];
  readonly id: number;
  readonly dataset: number;
  readonly order: DatasetOrder;
  readonly compression: "none" | "deflate";
  readonly salt: Uint8Array;
  readonly encryption: { readonly keyId: string; readonly masterKey: Uint8Array } | undefined;
}

/** Builds the part of one dataset from generations, oldest first: the whole file. */
export const sealPart: Job<SealInput, Uint8Array> = {
  name: "sealPart",
  module: import.meta.url,
  run(input) {
    const { generations, ...options } = input;
    const pieces: Uint8Array[] = [];
    const builder = new PartBuilder({ ...options, level: 0, sink: (bytes) => pieces.push(bytes) });
    if (input.order === "by-sort") {
      forEachOp(generations, input.dataset, (buffer, at, revision, time) => builder.add(buffer, at, revision, time));
    } else {
      for (const { buffer, at, revision, time } of inKeyOrder(generations, input.dataset))
        builder.add(buffer, at, revision, time);
    }
    builder.finish();
    const bytes = joined(pieces);
    verifyBuilt(Buffer.from(bytes.buffer), input.encryption?.masterKey);
    return bytes;
  },
};

interface MapOp {
  readonly buffer: Buffer;
  readonly at: number;
  readonly key: Buffer;
  readonly revision: number;
  readonly time: number;
}

function inKeyOrder(generations: readonly FrozenGeneration[], dataset: number): MapOp[] {
  const ops: MapOp[] = [];
  forEachOp(generations, dataset, (buffer, at, revision, time) => {
    ops.push({ buffer, at, key: keyAt(buffer, at), revision, time });
  });
  return ops.sort((a, b) => Buffer.compare(a.key, b.key) || b.revision - a.revision);
}

function forEachOp(
  generations: readonly FrozenGeneration[],
  dataset: number,
  visit: (buffer: Buffer, at: number, revision: number, time: number) => void,
): void {
  for (const { chunks, firstRevision, isOneRevision, places, ends } of generations) {
    const buffers = chunks.map((chunk) => Buffer.from(chunk));
    places.forEach((place: Place, i) => {
      const buffer = buffers[chunkOf(place)];
      if (buffer === undefined) throw new EhdbError("UNEXPECTED", `commit ${firstRevision + i} lies in no chunk`, {});
      const time = buffer.readDoubleLE(offsetOf(place) + 1);
      const end = ends[i] as number;
      const revision = isOneRevision === true ? firstRevision : firstRevision + i;
      for (let at = offsetOf(place) + COMMIT_HEADER_BYTES; at < end; at = opEnd(buffer, at)) {
        if (datasetAt(buffer, at) === dataset) visit(buffer, at, revision, time);
      }
    });
  }
}

/** One array that owns its memory, so that it's handed over and not copied. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
