import { crc32 } from "node:zlib";

/** What each byte does to a CRC-32 (the polynomial of zlib) that ends with it. */
const effects: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let effect = byte;
  for (let bit = 0; bit < 8; bit++) effect = (effect & 1) === 0 ? effect >>> 1 : (effect >>> 1) ^ 0xedb88320;
  return effect >>> 0;
});

/**
 * Puts right the one bit of `bytes` whose flip explains why they don't match their checksum, in time that grows with their number; true when
 * they match then. The flipped bit may be one of the checksum. What has more wrong with it than a bit matches after a wrong repair once in
 * some thousand times: whoever calls must have another reason to believe the outcome.
 */
export function repairBit(bytes: Buffer, checksum: number, seed = 0): boolean {
  const difference = (crc32(bytes, seed) ^ checksum) >>> 0;
  if (difference === 0 || isSingleBit(difference)) return true;
  // What a flip of each bit of a byte changes in the checksum, from the last byte to the first.
  const changes = Uint32Array.from({ length: 8 }, (_, bit) => effects[1 << bit] as number);
  for (let at = bytes.length - 1; at >= 0; at--) {
    const bit = changes.indexOf(difference);
    if (bit >= 0) {
      bytes[at] = (bytes[at] as number) ^ (1 << bit);
      return true;
    }
    for (let i = 0; i < 8; i++) {
      const change = changes[i] as number;
      changes[i] = (change >>> 8) ^ (effects[change & 0xff] as number);
    }
  }
  return false;
}

const isSingleBit = (value: number): boolean => (value & (value - 1)) === 0;
