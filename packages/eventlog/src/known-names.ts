const slots = 256;
const longest = 64;

interface KnownName {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Texts of names that come again and again. To compare a few bytes costs less than to decode them, and takes no memory. */
export class KnownNames {
  readonly #known: (KnownName | undefined)[] = Array.from({ length: slots });

  text(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > longest || length === 0) return bytes.toString("utf8", start, end);
    const middle = bytes[start + (length >> 1)] as number;
    const last = bytes[end - 1] as number;
    const slot = (length + middle * 7 + last * 31) & (slots - 1);
    const known = this.#known[slot];
    if (known !== undefined && isSame(known.bytes, bytes, start, length)) return known.text;
    const text = bytes.toString("utf8", start, end);
    this.#known[slot] = { bytes: new Uint8Array(bytes.subarray(start, end)), text };
    return text;
  }
}

function isSame(name: Uint8Array, bytes: Buffer, start: number, length: number): boolean {
  if (name.length !== length) return false;
  for (let i = 0; i < length; i++) if (name[i] !== bytes[start + i]) return false;
  return true;
}
