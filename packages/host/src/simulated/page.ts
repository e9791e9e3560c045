/** Bytes of a page of the cache: what space is counted in and what becomes dirty as a whole. */
export const PAGE_BYTES = 4096;
/** Bytes that a disk writes entirely or not at all. */
export const SECTOR_BYTES = 512;
/** Writes to one page that are told apart between two syncs; beyond it the oldest two count as one. */
const MAX_EXTENTS = 16;

/** A part of one write, not yet durable. */
export interface Extent {
  /** The place of its write in the history of the disk. */
  readonly order: number;
  /** From here, in bytes from the start of the page. */
  readonly start: number;
  /** Up to here, exclusive. */
  readonly end: number;
  readonly bytes: Uint8Array;
  /** Zeros that a truncation leaves: kept or lost together with the new size. */
  readonly truncation: boolean;
}

/** 4 096 bytes of a file: as the cache shows them, as they are on disk, and the writes between the two in order. */
export class Page {
  current: Uint8Array = new Uint8Array(PAGE_BYTES);
  /** Absent: zeros. */
  durable: Uint8Array | undefined;
  extents: Extent[] = [];
  /**
   * When a sync failed over this page, else 0. Such a page counts as clean, as on Linux: no later sync writes it, until
   * a write makes all of it dirty again.
   */
  cleanedAt = 0;

  write(order: number, start: number, bytes: Uint8Array, truncation = false): void {
    this.current.set(bytes, start);
    // Buffer.from copies into Node's pool, which is several times cheaper than a small ArrayBuffer of its own.
    const copy = Buffer.from(bytes);
    this.extents.push({ order, start, end: start + bytes.length, bytes: copy, truncation });
    this.cleanedAt = 0;
    if (this.extents.length > MAX_EXTENTS) this.#joinOldest();
  }

  /**
   * Makes the writes up to `through` durable, for a sync that was issued at `issuedAt`. The highest byte made durable,
   * from the start of the page; 0 for none.
   */
  sync(through: number, issuedAt: number): number {
    let count = 0;
    while (count < this.extents.length && (this.extents[count]?.order ?? 0) <= through) count++;
    if (this.cleanedAt !== 0 && issuedAt >= this.cleanedAt) {
      while (count > 0 && this.extents[count - 1]?.truncation !== true) count--;
    }
    if (count === 0) return 0;
    this.durable ??= new Uint8Array(PAGE_BYTES);
    let highest = 0;
    for (const extent of this.extents.splice(0, count)) {
      this.durable.set(extent.bytes, extent.start);
      if (!extent.truncation && extent.end > highest) highest = extent.end;
    }
    return highest;
  }

  /** A sync issued at `issuedAt` failed: unless written since, the page counts as clean from `now` on. */
  failSync(issuedAt: number, now: number): void {
    const newest = this.extents[this.extents.length - 1];
    if (newest !== undefined && newest.order <= issuedAt) this.cleanedAt = now;
  }

  /** Flips a bit wherever the byte is held, so that neither a sync nor a crash mends it. */
  flip(offset: number, mask: number): void {
    this.durable ??= new Uint8Array(PAGE_BYTES);
    this.durable[offset] = (this.durable[offset] ?? 0) ^ mask;
    this.current[offset] = (this.current[offset] ?? 0) ^ mask;
    for (const { start, end, bytes } of this.extents) {
      if (start <= offset && offset < end) bytes[offset - start] = (bytes[offset - start] ?? 0) ^ mask;
    }
  }

  #joinOldest(): void {
    const [first, second] = this.extents;
    if (first === undefined || second === undefined || first.truncation || second.truncation) return;
    const image = this.durable?.slice() ?? new Uint8Array(PAGE_BYTES);
    image.set(first.bytes, first.start);
    image.set(second.bytes, second.start);
    const start = Math.min(first.start, second.start);
    const end = Math.max(first.end, second.end);
    // The older order: a sync between the two must still make the older one durable, and may cover the newer one.
    const joined = { order: first.order, start, end, bytes: image.subarray(start, end), truncation: false };
    this.extents.splice(0, 2, joined);
  }
}
