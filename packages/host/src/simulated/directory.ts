import type { FileInode } from "./inode.ts";

/** A directory: its names as the cache shows them, and as they are on disk. */
export class DirectoryInode {
  readonly kind = "directory";
  readonly number: number;
  entries: Map<string, Inode> = new Map();
  durable: Map<string, Inode> = new Map();
  modifiedMillis: number;

  constructor(number: number, modifiedMillis: number) {
    this.number = number;
    this.modifiedMillis = modifiedMillis;
  }
}

export type Inode = FileInode | DirectoryInode;

/** What one operation does to one name. */
export interface NameChange {
  readonly directory: DirectoryInode;
  readonly name: string;
  /** Absent: the name goes. */
  readonly inode: Inode | undefined;
}

/** A creation, rename, link or removal that isn't durable yet. All its changes are kept, or none. */
export interface NameOperation {
  readonly order: number;
  readonly changes: readonly NameChange[];
  /** A sync of the directory failed over it: no later sync makes it durable for its own sake. */
  syncFailed: boolean;
}

/** The operations on names that aren't durable, oldest first. */
export class NameJournal {
  #pending: NameOperation[] = [];

  get size(): number {
    return this.#pending.length;
  }

  get oldest(): number | undefined {
    return this.#pending[0]?.order;
  }

  add(order: number, changes: readonly NameChange[]): void {
    this.#pending.push({ order, changes, syncFailed: false });
  }

  /** Makes durable what happened in `directory` up to `through`, and whatever earlier operations that rests on. */
  sync(directory: DirectoryInode, through: number): void {
    const needed = new Set<NameOperation>();
    const names = new Set<string>();
    for (const operation of this.#pending.toReversed()) {
      const promised = !operation.syncFailed && operation.order <= through && touches(operation, directory);
      if (!promised && !operation.changes.some((change) => names.has(keyOf(change)))) continue;
      needed.add(operation);
      for (const change of operation.changes) names.add(keyOf(change));
    }
    if (needed.size === 0) return;
    for (const operation of this.#pending) if (needed.has(operation)) persist(operation);
    this.#pending = this.#pending.filter((operation) => !needed.has(operation));
  }

  failSync(directory: DirectoryInode, through: number): void {
    for (const operation of this.#pending) {
      if (operation.order <= through && touches(operation, directory)) operation.syncFailed = true;
    }
  }

  /**
   * A crash: `keeps` is asked for each operation, oldest first, unless an earlier one on the same name was lost, for
   * then this one can't have happened. The number of operations lost.
   */
  crash(keeps: (operation: NameOperation) => boolean): number {
    const lostNames = new Set<string>();
    const touched = new Set<DirectoryInode>();
    let lost = 0;
    for (const operation of this.#pending) {
      for (const { directory } of operation.changes) touched.add(directory);
      const possible = !operation.changes.some((change) => lostNames.has(keyOf(change)));
      if (keeps(operation) && possible) {
        persist(operation);
        continue;
      }
      lost++;
      for (const change of operation.changes) lostNames.add(keyOf(change));
    }
    for (const directory of touched) directory.entries = new Map(directory.durable);
    this.#pending = [];
    return lost;
  }
}

function keyOf({ directory, name }: NameChange): string {
  return `${directory.number}/${name}`;
}

function touches(operation: NameOperation, directory: DirectoryInode): boolean {
  return operation.changes.some((change) => change.directory === directory);
}

function persist(operation: NameOperation): void {
  for (const { directory, name, inode } of operation.changes) {
    if (inode === undefined) directory.durable.delete(name);
    else directory.durable.set(name, inode);
  }
}
