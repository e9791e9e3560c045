/**
 * The door to the machine. Engines take a `Host` and touch nothing else.
 *
 * Errors of files are Node's (`code`: ENOSPC, EIO, ENOENT, …), real or simulated; the lock's and the jobs' are
 * `EhdbError`s.
 */
export interface Host {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly workers: Workers;
}

/** How a file is opened. Paths are absolute or relative to the process, as Node takes them. */
export type OpenMode =
  /** An existing file, to read. */
  | "read"
  /** An existing file, to read and write. */
  | "write"
  /** A new file, to read and write; EEXIST when there is one. */
  | "create";

export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  readonly bytes: number;
  /** The file's own number on its file system, whatever its names: another file at the same path has another. */
  readonly inode: number;
  /** Wall-clock milliseconds of the last change. */
  readonly modifiedMillis: number;
}

export interface Files {
  open(path: string, mode: OpenMode): Promise<File>;
  /** Replaces `to`. Whoever renames syncs the file first and the directory afterwards. */
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; EEXIST when `path` is taken. */
  link(existing: string, path: string): Promise<void>;
  /** ENOENT when there is none. */
  remove(path: string): Promise<void>;
  /** The names in a directory, sorted by their UTF-16 code units; ENOENT when there is none. */
  list(directory: string): Promise<string[]>;
  /** `undefined` when there is nothing at `path`. */
  stat(path: string): Promise<FileStat | undefined>;
  /** With its parents; no error when it exists. Syncs the names of what it made, and of what it found, so that the directory itself survives. */
  makeDirectory(path: string): Promise<void>;
  /** Removes a directory that is empty; ENOTEMPTY otherwise. */
  removeDirectory(path: string): Promise<void>;
  /** Makes creations, renames, links and removals in `directory` durable. */
  syncDirectory(directory: string): Promise<void>;
  /**
   * Calls `onChange` some time after something in `directory` changed: names, or a file's content. A hint only: it may
   * come late, twice or for nothing, and a watcher polls besides.
   */
  watch(directory: string, onChange: () => void): Watcher;
  /**
   * The kernel's exclusive lock on the file at `path`, made when missing. LOCKED when another process or another
   * place in this process holds it. It dies with the process.
   */
  lock(path: string): Promise<Lock>;
  /** Bytes that an unprivileged process may still write on the file system of `path`. */
  freeBytes(path: string): Promise<number>;
}

export interface File {
  readonly path: string;
  /** Fills `into` from `position`; the count is short only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes all of `bytes` or throws. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** The one synchronous call on a serving path: copies all of `bytes` to the page cache, or throws. */
  writeAtSync(bytes: Uint8Array, position: number): void;
  /** Writes zeros over `[position, position + bytes)` in slices that hold no lock for long. Makes space, not durability. */
  preallocate(position: number, bytes: number): Promise<void>;
  /** fdatasync. What was written before the call is durable when it resolves. When it rejects, nobody tries again. */
  dataSync(): Promise<void>;
  /** The same, holding the thread: for command-line tools. */
  dataSyncBlocking(): void;
  truncate(bytes: number): Promise<void>;
  /**
   * The kernel's exclusive lock on one byte, which needn't be there; of a file that can be written. It goes with this open file, and with the process.
   * False when another open file has it. Where the machine locks whole files only (macOS), nothing is locked, and that is true.
   */
  tryLockByte(position: number): boolean;
  size(): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface Watcher {
  close(): void;
}

export interface Lock {
  /** Idempotent. */
  release(): Promise<void>;
}

export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds with fractions since some start. Never goes back. */
  monotonic(): number;
  /** Calls once, `millis` from now. A pending timer keeps the process alive only when `keepAlive` is true: somebody waits for it. */
  timer(millis: number, call: () => void, keepAlive?: boolean): Timer;
  /** Calls once, after what is running and its microtasks are done (setImmediate). */
  defer(call: () => void): void;
  /** Lets other work run. */
  yield(): Promise<void>;
}

export interface Timer {
  /** Idempotent. */
  cancel(): void;
}

export interface Random {
  bytes(count: number): Uint8Array;
  /** 16 random bytes in hexadecimal: unique names. */
  id(): string;
  /** A whole number in `[0, bound)`. */
  integer(bound: number): number;
}

/**
 * A function that may run in a thread: same input, same output, nothing else touched but, when it says so, files. `module` is the
 * `import.meta.url` of the module that exports it under the name `run`'s owner gives in `name`.
 */
export interface Job<Input, Output> {
  /** The name under which `module` exports this job. */
  readonly name: string;
  readonly module: string;
  /** It reads or writes files. A simulated one takes as many turns as its files do, where any other takes two. */
  readonly usesFiles?: true;
  /** The function itself. Input and output are structured-cloneable; `files` are only for one that uses them. */
  run(input: Input, files: Files): Output | Promise<Output>;
}

export interface Workers {
  /** Jobs run beside this thread; otherwise they take turns with what else it does. */
  readonly inThreads: boolean;
  /** Runs a job in a worker thread (real) or inline (simulated). Errors thrown by the job reject. */
  run<Input, Output>(job: Job<Input, Output>, input: Input): Promise<Output>;
  /** Ends the threads; running jobs reject with CLOSED. A later `run` starts anew. */
  close(): Promise<void>;
}
