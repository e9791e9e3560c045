/** Where bytes are: chunk number and offset in one number, so that a table of places is a plain array. */
export type Place = number;

const placeScale = 2 ** 26;
const chunkBytes = 1024 * 1024;

/**
 * Memory that only grows, in chunks that other threads can read: what was written stays where it is. A piece is never split over
 * two chunks; one larger than a chunk gets a chunk of its own.
 */
export class Chunks {
  readonly buffers: Buffer[] = [];
  /** Bytes used, holes at the ends of chunks not counted. */
  bytes = 0;
  #at = 0;

  /** Room for `bytes`, to be filled before the next call. */
  reserve(bytes: number): Place {
    const last = this.buffers.at(-1);
    if (last === undefined || this.#at + bytes > last.length) {
      this.buffers.push(Buffer.from(new SharedArrayBuffer(Math.max(chunkBytes, bytes))));
      this.#at = 0;
    }
    const place = (this.buffers.length - 1) * placeScale + this.#at;
    this.#at += bytes;
    this.bytes += bytes;
    return place;
  }

  /** Takes the last reservation back. */
  release(bytes: number): void {
    this.#at -= bytes;
    this.bytes -= bytes;
  }

  buffer(place: Place): Buffer {
    return this.buffers[chunkOf(place)] as Buffer;
  }
}

export function chunkOf(place: Place): number {
  return Math.floor(place / placeScale);
}

export function offsetOf(place: Place): number {
  return place % placeScale;
}

/** Another place in the same chunk. */
export function placeAt(place: Place, offset: number): Place {
  return place - offsetOf(place) + offset;
}
