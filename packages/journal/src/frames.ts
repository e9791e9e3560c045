/** The records in a batch's body: for each a varint length (LEB128), then its bytes. */

export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** Writes the length and the bytes at `offset`; returns the offset after them. The caller has made room. */
export function writeFrame(into: Buffer, offset: number, data: Uint8Array, size: number): number {
  let at = offset;
  let rest = size;
  while (rest >= 0x80) {
    into[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  into[at++] = rest;
  into.set(data, at);
  return at + size;
}

/** Views of the `records` frames in `body`; `undefined` when they don't fill it exactly. */
export function readFrames(body: Buffer, records: number): Buffer[] | undefined {
  const frames: Buffer[] = [];
  let at = 0;
  for (let i = 0; i < records; i++) {
    let length = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = body[at++];
      if (byte === undefined || scale > 0x80 ** 4) return undefined;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    if (at + length > body.length) return undefined;
    frames.push(body.subarray(at, at + length));
    at += length;
  }
  return at === body.length ? frames : undefined;
}
