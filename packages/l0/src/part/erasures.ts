/**
 * The erasures of a log: of which keys the versions below which one may go, in this part and in those before it.
 *
 *     cell := u16 key bytes | key | f64 first version that stays | f64 revision of the commit that said so
 *
 * One cell a key.
 */
import { compareBytes, noBytes } from "./position.ts";
import type { CellOrder } from "./position.ts";

export interface Erasure {
  /** The first version that stays. */
  readonly below: number;
  readonly revision: number;
}

export const erasureCells: CellOrder = {
  compare: (block, at, target) => compareBytes(block, at + 2, block.readUInt16LE(at), target.first),
  position: (block, at) => ({ first: erasedKeyAt(block, at), second: noBytes, tail: 0 }),
};

export const erasureCellBytes = (key: Uint8Array): number => 18 + key.length;

export function writeErasureCell(into: Buffer, at: number, key: Uint8Array, { below, revision }: Erasure): void {
  into.writeUInt16LE(key.length, at);
  into.set(key, at + 2);
  into.writeDoubleLE(below, at + 2 + key.length);
  into.writeDoubleLE(revision, at + 10 + key.length);
}

/** A view. */
export function erasedKeyAt(block: Buffer, at: number): Buffer {
  return block.subarray(at + 2, at + 2 + block.readUInt16LE(at));
}

export function erasureAt(block: Buffer, at: number): Erasure {
  const fields = at + 2 + block.readUInt16LE(at);
  return { below: block.readDoubleLE(fields), revision: block.readDoubleLE(fields + 8) };
}

/** By key in Latin-1, a character a byte. */
export type Erasures = Map<string, Erasure>;

/** Of two that say something of one key the one that lets more go holds. */
export function addErasure(erasures: Erasures, key: string, erasure: Erasure): void {
  if (erasure.below > (erasures.get(key)?.below ?? 0)) erasures.set(key, erasure);
}
