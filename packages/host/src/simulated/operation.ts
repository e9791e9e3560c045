import { type FileErrorCode, fileError } from "../file-error.ts";
import type { FaultCode } from "./faults.ts";
import type { QueuedTask } from "./pump.ts";
import type { OperationKind } from "./statistics.ts";

/** What an effect returns when it has done a part and wants another turn. */
export const CONTINUE: unique symbol = Symbol("continue");

/** What an operation does when its turn comes. */
export type Effect<Result> = (operation: Operation) => Result | typeof CONTINUE;

/** As in the errors of the system calls that a real host makes. */
const syscalls: Readonly<Record<OperationKind, string>> = {
  open: "open",
  create: "open",
  read: "read",
  write: "write",
  writeAtSync: "write",
  preallocate: "write",
  dataSync: "fdatasync",
  truncate: "ftruncate",
  size: "fstat",
  close: "close",
  rename: "rename",
  link: "link",
  remove: "unlink",
  list: "scandir",
  stat: "stat",
  makeDirectory: "mkdir",
  removeDirectory: "rmdir",
  syncDirectory: "fsync",
  lock: "flock",
  unlock: "flock",
  freeBytes: "statfs",
  job: "job",
};

/** One call through the door, from its issue to its completion. */
export class Operation implements QueuedTask {
  readonly kind: OperationKind;
  /** Absolute; of a rename or a link `from -> to`. */
  readonly path: string;
  readonly effect: Effect<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  delay = 0;
  started = false;
  /** The failure drawn for it. */
  fault: FaultCode | undefined = undefined;
  position = 0;
  bytes = 0;
  checksum = 0;
  readonly #turn: (operation: Operation) => void;

  constructor(
    kind: OperationKind,
    path: string,
    effect: Effect<unknown>,
    turn: (operation: Operation) => void,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.kind = kind;
    this.path = path;
    this.effect = effect;
    this.#turn = turn;
    this.resolve = resolve;
    this.reject = reject;
  }

  run(): void {
    this.#turn(this);
  }

  get syscall(): string {
    return syscalls[this.kind];
  }

  error(code: FileErrorCode): NodeJS.ErrnoException {
    return fileError(code, this.syscall, this.path);
  }

  /** For operations of which nothing happens when they fail. */
  throwFault(): void {
    if (this.fault !== undefined) throw this.error(this.fault);
  }
}
