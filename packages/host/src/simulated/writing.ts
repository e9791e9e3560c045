import { crc32 } from "node:zlib";
import type { FileInode } from "./inode.ts";
import type { Machine } from "./machine.ts";
import { CONTINUE, type Operation } from "./operation.ts";
import { PAGE_BYTES } from "./page.ts";

/** Bytes of zeros that a preallocation writes in one turn. */
const ZEROS_PER_TURN = 1024 * 1024;

/** A range of a file on its way to the cache, in one turn or several: what to write, or how many zeros. */
export class Writing {
  readonly #machine: Machine;
  readonly #inode: FileInode;
  readonly #source: Uint8Array | undefined;
  readonly #position: number;
  readonly #length: number;
  #done = 0;

  constructor(machine: Machine, inode: FileInode, source: Uint8Array | number, position: number) {
    this.#machine = machine;
    this.#inode = inode;
    this.#source = typeof source === "number" ? undefined : source;
    this.#length = typeof source === "number" ? source : source.length;
    this.#position = position;
  }

  /** Takes what the system takes in one go; ends with the fault's error or ENOSPC after a part of it. */
  step(operation: Operation): typeof CONTINUE | undefined {
    const { disk, faults, mishaps } = this.#machine;
    const left = this.#length - this.#done;
    if (this.#done === 0) this.#describe(operation);
    if (operation.fault !== undefined) {
      // A disk that is full takes whole pages; one that breaks stops anywhere.
      const part = mishaps.integer(left + 1);
      this.#take(operation.fault === "EIO" ? part : wholePages(this.#position, part));
      throw operation.error(operation.fault);
    }
    const wanted = this.#slice(left);
    const position = this.#position + this.#done;
    const fitting = disk.fitting(this.#inode, position, wanted, faults.noSpaceAfterBytes);
    if (fitting < wanted) {
      if (mishaps.chance(0.5)) this.#take(fitting);
      throw operation.error("ENOSPC");
    }
    this.#take(wanted);
    return this.#done < this.#length ? CONTINUE : undefined;
  }

  #slice(left: number): number {
    if (this.#source === undefined) return Math.min(left, ZEROS_PER_TURN);
    const { faults, mishaps, statistics } = this.#machine;
    if (left < 2 || !mishaps.chance(faults.shortWrite)) return left;
    statistics.shortWrites++;
    return 1 + mishaps.integer(left - 1);
  }

  #take(count: number): void {
    if (count === 0) return;
    const position = this.#position + this.#done;
    const source = this.#source;
    this.#machine.disk.edit(this.#inode, this.#machine.now, (order) => {
      if (source === undefined) this.#inode.writeZeros(order, position, count);
      else this.#inode.write(order, position, source.subarray(this.#done, this.#done + count));
    });
    this.#done += count;
  }

  #describe(operation: Operation): void {
    operation.position = this.#position;
    operation.bytes = this.#length;
    if (this.#source !== undefined) operation.checksum = crc32(this.#source);
  }
}

/** The part of `count` bytes from `position` that ends with a page. */
function wholePages(position: number, count: number): number {
  return Math.max(0, Math.floor((position + count) / PAGE_BYTES) * PAGE_BYTES - position);
}
