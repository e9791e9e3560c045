import { STAMP_BYTES } from "./ledger.ts";
import type { Random } from "./random.ts";

const MIB = 1024 * 1024;

/** How large records are. `rolling` fills several segments in a run. */
export type Scale = "small" | "mixed" | "rolling";

const noise = Buffer.alloc(MIB);
const text = Buffer.alloc(MIB, "the quick journal jumps over the lazy disk, again and again; ");
for (let at = 0, state = 0x12345678; at < noise.length; at += 4) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  noise.writeInt32LE(state, at);
}

/** Makes records' bytes: noise or text, most of them stamped so that they can be told apart. */
export class Payloads {
  readonly #random: Random;
  readonly #scale: Scale;
  /** Bytes of a segment on disk, to be stored as a record: they must never pass for a batch. */
  readonly #specimen: () => Uint8Array | undefined;

  constructor(random: Random, scale: Scale, specimen: () => Uint8Array | undefined) {
    this.#random = random;
    this.#scale = scale;
    this.#specimen = specimen;
  }

  /** A record's size; `least` 0 allows records too short for a stamp, which only `append` can place. */
  size(least: number): number {
    const random = this.#random;
    if (random.chance(0.05)) return random.between(least, least + 8);
    const most = this.#scale === "small" ? 400 : this.#scale === "mixed" ? 6_000 : 60_000;
    if (this.#scale === "rolling" && random.chance(0.1)) return random.between(100_000, 500_000);
    return random.chance(0.8) ? random.between(least, most >> 3) : random.between(least, most);
  }

  record(id: number, place: number, bytes: number): Uint8Array {
    const random = this.#random;
    const specimen = bytes > 256 && random.chance(0.03) ? this.#specimen() : undefined;
    const data = Buffer.allocUnsafeSlow(bytes);
    const source = random.chance(0.5) ? noise : text;
    const from = random.between(0, MIB - 1 - Math.min(bytes, MIB - 1));
    for (let at = 0; at < bytes; at += MIB) source.copy(data, at, from, Math.min(MIB, from + bytes - at));
    if (bytes > MIB - from) data.fill(source.subarray(0, 4096), MIB - from);
    if (specimen !== undefined) data.set(specimen.subarray(0, bytes - 16), random.between(STAMP_BYTES, 16));
    if (bytes >= STAMP_BYTES) {
      data.writeUInt32LE(id, 0);
      data.writeUInt32LE(place, 4);
    }
    return data;
  }

  /** Several records for one atomic write. */
  group(id: number): Uint8Array[] {
    const random = this.#random;
    if (this.#scale === "rolling" && random.chance(0.02)) return [this.record(id, 0, random.between(MIB, 3 * MIB))];
    const count = random.chance(0.1) ? random.between(20, 60) : random.between(1, 6);
    return Array.from({ length: count }, (_, place) => this.record(id, place, this.size(STAMP_BYTES)));
  }
}
