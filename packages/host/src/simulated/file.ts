import { fileError } from "../file-error.ts";
import type { File, OpenMode } from "../host.ts";
import type { DirectoryInode } from "./directory.ts";
import type { FileInode } from "./inode.ts";
import type { Locks } from "./locks.ts";
import type { Effect } from "./operation.ts";
import type { Process } from "./process.ts";
import type { OperationKind } from "./statistics.ts";
import { fileSync } from "./syncing.ts";
import type { Watchers } from "./watchers.ts";
import { Writing } from "./writing.ts";

/** What an open file refers to. */
export interface OpenedFile {
  readonly path: string;
  readonly mode: OpenMode;
  readonly inode: FileInode;
  /** Where it was opened: whoever watches that hears of its writes. */
  readonly directory: DirectoryInode;
}

export class SimulatedFile implements File {
  readonly path: string;
  readonly #process: Process;
  readonly #watchers: Watchers;
  readonly #locks: Locks;
  readonly #opened: OpenedFile;
  readonly #inode: FileInode;
  #pending = 0;
  #closing: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  constructor(process: Process, watchers: Watchers, locks: Locks, path: string, opened: OpenedFile) {
    this.path = path;
    this.#process = process;
    this.#watchers = watchers;
    this.#locks = locks;
    this.#opened = opened;
    this.#inode = opened.inode;
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.#perform("read", (operation) => {
      operation.throwFault();
      this.#checkPosition("read", position);
      operation.position = position;
      operation.bytes = this.#inode.read(into, position);
      return operation.bytes;
    });
  }

  write(bytes: Uint8Array, position: number): Promise<void> {
    return this.#perform("write", this.#writing(bytes, position));
  }

  writeAtSync(bytes: Uint8Array, position: number): void {
    this.#checkOpen("write");
    this.#process.performNow("writeAtSync", this.#opened.path, this.#writing(bytes, position));
  }

  preallocate(position: number, bytes: number): Promise<void> {
    return this.#perform("preallocate", this.#writing(bytes, position));
  }

  dataSync(): Promise<void> {
    return this.#perform("dataSync", fileSync(this.#process.machine, this.#inode));
  }

  dataSyncBlocking(): void {
    this.#checkOpen("fdatasync");
    this.#process.performNow("dataSync", this.#opened.path, fileSync(this.#process.machine, this.#inode));
  }

  truncate(bytes: number): Promise<void> {
    return this.#perform("truncate", (operation) => {
      operation.throwFault();
      this.#checkWritable("ftruncate");
      this.#checkPosition("ftruncate", bytes);
      const { disk, now } = this.#process.machine;
      operation.bytes = bytes;
      if (bytes !== this.#inode.size) disk.edit(this.#inode, now, (order) => this.#inode.truncate(order, bytes));
      this.#watchers.changed(this.#opened.directory);
    });
  }

  tryLockByte(position: number): boolean {
    this.#checkOpen("fcntl");
    this.#checkWritable("fcntl");
    this.#checkPosition("fcntl", position);
    return this.#locks.lockByte(this.#inode, position, this);
  }

  size(): Promise<number> {
    return this.#perform("size", (operation) => {
      operation.throwFault();
      return this.#inode.size;
    });
  }

  /** Waits for what is under way, as Node's handles do; the handle is gone even when it fails. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#pending > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#process.perform("close", this.#opened.path, (operation) => {
      this.#locks.closed(this.#inode, this);
      this.#process.machine.disk.released(this.#inode);
      operation.throwFault();
    });
  }

  #writing(source: Uint8Array | number, position: number): Effect<void> {
    const writing = new Writing(this.#process.machine, this.#inode, source, position);
    return (operation) => {
      this.#checkWritable("write");
      this.#checkPosition("write", position);
      if (typeof source === "number") this.#checkPosition("write", source);
      try {
        return writing.step(operation);
      } finally {
        this.#watchers.changed(this.#opened.directory);
      }
    };
  }

  #perform<Result>(kind: OperationKind, effect: Effect<Result>): Promise<Result> {
    if (this.#closing !== undefined && !this.#process.frozen) {
      return Promise.reject(fileError("EBADF", kind, this.#opened.path));
    }
    const performed = this.#process.perform(kind, this.#opened.path, effect);
    this.#pending++;
    performed.then(this.#ended, this.#ended);
    return performed;
  }

  readonly #ended = (): void => {
    if (--this.#pending === 0) this.#idle?.();
  };

  #checkOpen(syscall: string): void {
    if (this.#closing !== undefined && !this.#process.frozen) throw fileError("EBADF", syscall, this.#opened.path);
  }

  #checkWritable(syscall: string): void {
    if (this.#opened.mode === "read") throw fileError("EBADF", syscall, this.#opened.path);
  }

  #checkPosition(syscall: string, position: number): void {
    if (!Number.isSafeInteger(position) || position < 0) throw fileError("EINVAL", syscall, this.#opened.path);
  }
}
