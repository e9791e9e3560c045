/** LEB128 of whole numbers up to 2^53 - 1. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** Returns the offset behind it. */
export function writeVarint(into: Uint8Array, at: number, value: number): number {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) into[at++] = (rest % 128) | 128;
  into[at++] = rest;
  return at;
}

/** Reads the one at `cursor.at` and moves the cursor behind it. */
export function readVarint(bytes: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[cursor.at++] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
}
