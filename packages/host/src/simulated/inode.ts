import { Page, PAGE_BYTES } from "./page.ts";

const ZEROS: Uint8Array = new Uint8Array(PAGE_BYTES);

/** A shortening of a file that no sync has made durable yet. */
export interface Truncation {
  readonly order: number;
  readonly size: number;
  readonly sizeBefore: number;
}

/** What a sync promises when it's issued. */
export interface SyncSnapshot {
  readonly order: number;
  readonly size: number;
}

/** A file without its names: content, size and what of both is durable. Pages of zeros take no memory. */
export class FileInode {
  readonly kind = "file";
  readonly number: number;
  size = 0;
  durableSize = 0;
  modifiedMillis: number;
  /** Names in directories, as the cache shows them. */
  links = 0;
  /** Open handles. A file without names lives as long as it has some. */
  handles = 0;
  pages: Map<number, Page> = new Map();
  /** The pages that have writes which aren't durable. */
  dirty: Map<number, Page> = new Map();
  truncations: Truncation[] = [];
  allocatedPages = 0;
  /** One byte a page: 1 when it has space on disk. */
  #allocated: Uint8Array = new Uint8Array(16);
  #sizeChangedAt = 0;
  /** As `Page.cleanedAt`, for the size. */
  #sizeCleanedAt = 0;
  /** The newest sync, by its issue, that set `durableSize`. */
  #sizeSyncedAt = 0;

  constructor(number: number, modifiedMillis: number) {
    this.number = number;
    this.modifiedMillis = modifiedMillis;
  }

  /** How many bytes of `[position, position + length)` fit when `freePages` pages may be newly allocated. */
  fitting(position: number, length: number, freePages: number): number {
    if (freePages === Infinity) return length;
    const last = Math.floor((position + length - 1) / PAGE_BYTES);
    let left = freePages;
    for (let page = Math.floor(position / PAGE_BYTES); page <= last; page++) {
      if (this.#allocated[page] === 1) continue;
      if (left === 0) return Math.max(0, page * PAGE_BYTES - position);
      left--;
    }
    return length;
  }

  write(order: number, position: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#allocate(position, bytes.length);
    let done = 0;
    while (done < bytes.length) {
      const index = Math.floor((position + done) / PAGE_BYTES);
      const start = position + done - index * PAGE_BYTES;
      const count = Math.min(PAGE_BYTES - start, bytes.length - done);
      const part = count === bytes.length ? bytes : bytes.subarray(done, done + count);
      this.#writePage(order, index, start, part);
      done += count;
    }
    this.#grow(order, position + bytes.length);
  }

  /** As `write` with zeros, but pages that are zeros already stay absent. */
  writeZeros(order: number, position: number, length: number): void {
    if (length === 0) return;
    this.#allocate(position, length);
    this.#zeroPresent(order, position, position + length, false);
    this.#grow(order, position + length);
  }

  truncate(order: number, size: number): void {
    if (size >= this.size) {
      this.#grow(order, size);
      return;
    }
    this.truncations.push({ order, size, sizeBefore: this.size });
    this.#zeroPresent(order, size, this.size, true);
    this.size = size;
    this.#sizeChangedAt = order;
    this.#sizeCleanedAt = 0;
    this.freeBeyond(size);
  }

  /** Gives back the space of whole pages at and beyond `size`. */
  freeBeyond(size: number): void {
    const from = Math.ceil(size / PAGE_BYTES);
    for (let page = from; page < this.#allocated.length; page++) this.allocatedPages -= this.#allocated[page] ?? 0;
    this.#allocated.fill(0, from);
  }

  read(into: Uint8Array, position: number): number {
    const count = Math.max(0, Math.min(into.length, this.size - position));
    copyPages(into, position, count, (index) => this.pages.get(index)?.current);
    return count;
  }

  content(): Uint8Array {
    const bytes = new Uint8Array(this.size);
    this.read(bytes, 0);
    return bytes;
  }

  durableContent(): Uint8Array {
    const bytes = new Uint8Array(this.durableSize);
    copyPages(bytes, 0, bytes.length, (index) => this.pages.get(index)?.durable);
    return bytes;
  }

  snapshot(order: number): SyncSnapshot {
    return { order, size: this.size };
  }

  /**
   * A sync succeeded: everything up to its snapshot is durable, and later writes up to `through`, but none beyond a
   * truncation that it doesn't promise.
   */
  sync(snapshot: SyncSnapshot, through: number): void {
    const later = this.truncations.find((truncation) => truncation.order > snapshot.order);
    const covered = later === undefined ? through : Math.min(through, later.order - 1);
    let highest = 0;
    for (const [index, page] of this.dirty) {
      const end = page.sync(covered, snapshot.order);
      if (end > 0) highest = Math.max(highest, index * PAGE_BYTES + end);
      if (page.extents.length === 0) this.dirty.delete(index);
    }
    const applied = this.truncations.filter((truncation) => truncation.order <= covered);
    if (applied.length > 0) this.truncations = this.truncations.slice(applied.length);
    if (snapshot.order < this.#sizeSyncedAt) return;
    for (const { size } of applied) this.durableSize = Math.min(this.durableSize, size);
    highest = Math.min(highest, later?.sizeBefore ?? this.size);
    const failedSize = this.#sizeCleanedAt !== 0 && snapshot.order >= this.#sizeCleanedAt;
    // Only a truncation shortens it: an earlier sync may have covered more than this one promises.
    this.durableSize = Math.max(this.durableSize, failedSize ? 0 : snapshot.size, highest);
    this.#sizeSyncedAt = snapshot.order;
  }

  /** A sync failed: what it should have written counts as clean, and isn't durable. */
  failSync(snapshot: SyncSnapshot, now: number): void {
    for (const page of this.dirty.values()) page.failSync(snapshot.order, now);
    if (this.#sizeChangedAt <= snapshot.order) this.#sizeCleanedAt = now;
  }

  isDirty(): boolean {
    return this.dirty.size > 0 || this.truncations.length > 0 || this.size !== this.durableSize;
  }

  flip(offset: number, bit: number): void {
    const index = Math.floor(offset / PAGE_BYTES);
    this.#page(index).flip(offset - index * PAGE_BYTES, 1 << bit);
  }

  /** After a crash: what is there now is what is on disk. */
  settle(size: number): void {
    this.size = size;
    this.durableSize = size;
    this.dirty.clear();
    this.truncations = [];
    this.#sizeCleanedAt = 0;
    this.freeBeyond(size);
  }

  #page(index: number): Page {
    let page = this.pages.get(index);
    if (page === undefined) {
      page = new Page();
      this.pages.set(index, page);
    }
    return page;
  }

  #writePage(order: number, index: number, start: number, bytes: Uint8Array, truncation = false): void {
    const page = this.#page(index);
    if (page.extents.length === 0) this.dirty.set(index, page);
    page.write(order, start, bytes, truncation);
  }

  #zeroPresent(order: number, from: number, to: number, truncation: boolean): void {
    const last = Math.floor((to - 1) / PAGE_BYTES);
    for (let index = Math.floor(from / PAGE_BYTES); index <= last; index++) {
      if (!this.pages.has(index)) continue;
      const start = Math.max(0, from - index * PAGE_BYTES);
      // A truncation clears its last page to the end: the bytes past the old size are zeros anyway.
      const end = truncation ? PAGE_BYTES : Math.min(PAGE_BYTES, to - index * PAGE_BYTES);
      this.#writePage(order, index, start, ZEROS.subarray(start, end), truncation);
    }
  }

  #allocate(position: number, length: number): void {
    const first = Math.floor(position / PAGE_BYTES);
    const last = Math.floor((position + length - 1) / PAGE_BYTES);
    if (last >= this.#allocated.length) {
      const wider = new Uint8Array(Math.max(last + 1, this.#allocated.length * 2));
      wider.set(this.#allocated);
      this.#allocated = wider;
    }
    for (let page = first; page <= last; page++) {
      if (this.#allocated[page] === 1) continue;
      this.#allocated[page] = 1;
      this.allocatedPages++;
    }
  }

  #grow(order: number, size: number): void {
    if (size <= this.size) return;
    this.size = size;
    this.#sizeChangedAt = order;
    this.#sizeCleanedAt = 0;
  }
}

function copyPages(
  into: Uint8Array,
  position: number,
  count: number,
  page: (index: number) => Uint8Array | undefined,
): void {
  let done = 0;
  while (done < count) {
    const index = Math.floor((position + done) / PAGE_BYTES);
    const start = position + done - index * PAGE_BYTES;
    const part = Math.min(PAGE_BYTES - start, count - done);
    const bytes = page(index);
    if (bytes === undefined) into.fill(0, done, done + part);
    else into.set(bytes.subarray(start, start + part), done);
    done += part;
  }
}
