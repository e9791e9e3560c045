import { KIB } from "@ehdb/contracts";
import { close, fdatasync, fdatasyncSync, fstat, ftruncate, read, write, writeSync } from "node:fs";
import { promisify } from "node:util";
import { fileError } from "../file-error.ts";
import type { File } from "../host.ts";
import { tryLockByte } from "./lock.ts";

/** What `preallocate` writes at once: large enough to be fast, small enough that a sync beside it doesn't wait long. */
const zeros: Uint8Array = new Uint8Array(256 * KIB);

const closeDescriptor = promisify(close);
const statDescriptor = promisify(fstat);
const syncDescriptor = promisify(fdatasync);
const truncateDescriptor = promisify(ftruncate);

/** A file by its raw descriptor: half the way of Node's `FileHandle`, and it can also write synchronously. */
export class RealFile implements File {
  readonly path: string;
  readonly #descriptor: number;
  #pending = 0;
  #closing: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.#perform("read", [position], async () => {
      let done = 0;
      while (done < into.byteLength) {
        const count = await this.#readSome(into, done, position + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    });
  }

  write(bytes: Uint8Array, position: number): Promise<void> {
    return this.#perform("write", [position], () => this.#writeAll(bytes, bytes.byteLength, position));
  }

  writeAtSync(bytes: Uint8Array, position: number): void {
    this.#check("write", [position]);
    for (let done = 0; done < bytes.byteLength;) {
      const left = bytes.byteLength - done;
      done += this.#progress(writeSync(this.#descriptor, bytes, done, left, position + done));
    }
  }

  preallocate(position: number, bytes: number): Promise<void> {
    return this.#perform("write", [position, bytes], async () => {
      for (let done = 0; done < bytes; done += zeros.byteLength) {
        await this.#writeAll(zeros, Math.min(zeros.byteLength, bytes - done), position + done);
      }
    });
  }

  dataSync(): Promise<void> {
    return this.#perform("fdatasync", [], () => syncDescriptor(this.#descriptor));
  }

  dataSyncBlocking(): void {
    this.#check("fdatasync", []);
    fdatasyncSync(this.#descriptor);
  }

  truncate(bytes: number): Promise<void> {
    return this.#perform("ftruncate", [bytes], () => truncateDescriptor(this.#descriptor, bytes));
  }

  tryLockByte(position: number): boolean {
    this.#check("fcntl", [position]);
    return tryLockByte(this.#descriptor, position);
  }

  size(): Promise<number> {
    return this.#perform("fstat", [], async () => (await statDescriptor(this.#descriptor)).size);
  }

  /**
   * Waits for the operations under way: the kernel gives the descriptor's number to the next file that is opened, and
   * what is still queued would write into that one.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#pending > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await closeDescriptor(this.#descriptor);
  }

  #readSome(into: Uint8Array, offset: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      read(this.#descriptor, into, offset, into.byteLength - offset, position, (error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
  }

  async #writeAll(bytes: Uint8Array, length: number, position: number): Promise<void> {
    for (let done = 0; done < length;) {
      done += this.#progress(await this.#writeSome(bytes, done, length - done, position + done));
    }
  }

  #writeSome(bytes: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      write(this.#descriptor, bytes, offset, length, position, (error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
  }

  /** A disk that takes no byte and gives no reason would be asked for ever. */
  #progress(count: number): number {
    if (count === 0) throw fileError("EIO", "write", this.path);
    return count;
  }

  #perform<Result>(syscall: string, numbers: readonly number[], work: () => Promise<Result>): Promise<Result> {
    const refused = this.#refusal(syscall, numbers);
    if (refused !== undefined) return Promise.reject(refused);
    const performed = work();
    this.#pending++;
    performed.then(this.#ended, this.#ended);
    return performed;
  }

  readonly #ended = (): void => {
    if (--this.#pending === 0) this.#idle?.();
  };

  #check(syscall: string, numbers: readonly number[]): void {
    const refused = this.#refusal(syscall, numbers);
    if (refused !== undefined) throw refused;
  }

  /** Node takes a position below zero for "where the last write ended". */
  #refusal(syscall: string, numbers: readonly number[]): Error | undefined {
    if (this.#closing !== undefined) return fileError("EBADF", syscall, this.path);
    if (numbers.some((number) => !Number.isSafeInteger(number) || number < 0))
      return fileError("EINVAL", syscall, this.path);
    return undefined;
  }
}
