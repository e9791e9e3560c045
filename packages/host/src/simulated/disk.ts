import { posix } from "node:path";
import { fileError } from "../file-error.ts";
import { DirectoryInode, type Inode, type NameChange, NameJournal } from "./directory.ts";
import { FileInode } from "./inode.ts";
import { PAGE_BYTES } from "./page.ts";

/** The place of a name: its directory and the name in it. */
interface Place {
  readonly directory: DirectoryInode;
  readonly name: string;
}

/** A file system of directories and files, with the order of everything that was written to it. */
export class Disk {
  readonly root: DirectoryInode = new DirectoryInode(1, 0);
  readonly names: NameJournal = new NameJournal();
  readonly dirty: Set<FileInode> = new Set();
  /** Hears of every directory whose names change. */
  onNames: (directory: DirectoryInode) => void = () => {};
  /** Of the newest change: each write and each change of names has its own. */
  order = 0;
  /** Space taken, in pages: the content of files, and one for each file and directory. */
  usedPages = 1;
  #inodes = 1;

  /** Bytes that may still be allocated under a limit on the whole disk. */
  freePages(limitBytes: number): number {
    if (limitBytes === Infinity) return Infinity;
    return Math.max(0, Math.floor(limitBytes / PAGE_BYTES) - this.usedPages);
  }

  /** What is at `path`, or nothing. ENOTDIR when a part before the last is a file. */
  find(path: string, syscall: string): Inode | undefined {
    let inode: Inode | undefined = this.root;
    for (const name of partsOf(path)) {
      if (inode === undefined) return undefined;
      if (inode.kind === "file") throw fileError("ENOTDIR", syscall, path);
      inode = inode.entries.get(name);
    }
    return inode;
  }

  get(path: string, syscall: string): Inode {
    const inode = this.find(path, syscall);
    if (inode === undefined) throw fileError("ENOENT", syscall, path);
    return inode;
  }

  directory(path: string, syscall: string): DirectoryInode {
    const inode = this.get(path, syscall);
    if (inode.kind === "file") throw fileError("ENOTDIR", syscall, path);
    return inode;
  }

  file(path: string, syscall: string): FileInode {
    const inode = this.get(path, syscall);
    if (inode.kind === "directory") throw fileError("EISDIR", syscall, path);
    return inode;
  }

  create(path: string, now: number, limitBytes: number): FileInode {
    const place = this.#vacant(path, "open", limitBytes);
    const inode = new FileInode(++this.#inodes, now);
    inode.links = 1;
    this.usedPages++;
    this.#change(now, { ...place, inode });
    return inode;
  }

  makeDirectory(path: string, now: number, limitBytes: number): void {
    const place = this.#vacant(path, "mkdir", limitBytes);
    this.usedPages++;
    this.#change(now, { ...place, inode: new DirectoryInode(++this.#inodes, now) });
  }

  removeDirectory(path: string, now: number): void {
    const place = this.#place(path, "rmdir");
    if (this.directory(path, "rmdir").entries.size > 0) throw fileError("ENOTEMPTY", "rmdir", path);
    this.usedPages--;
    this.#change(now, { ...place, inode: undefined });
  }

  link(existing: string, path: string, now: number): void {
    const inode = this.get(existing, "link");
    if (inode.kind === "directory") throw fileError("EPERM", "link", existing, path);
    const place = this.#place(path, "link");
    if (place.directory.entries.has(place.name)) throw fileError("EEXIST", "link", existing, path);
    inode.links++;
    this.#change(now, { ...place, inode });
  }

  remove(path: string, now: number): void {
    const place = this.#place(path, "unlink");
    const inode = this.file(path, "unlink");
    this.#change(now, { ...place, inode: undefined });
    this.#unlink(inode);
  }

  rename(from: string, to: string, now: number): void {
    const source = this.#place(from, "rename");
    const target = this.#place(to, "rename");
    const inode = source.directory.entries.get(source.name);
    if (inode === undefined) throw fileError("ENOENT", "rename", from, to);
    const replaced = target.directory.entries.get(target.name);
    if (replaced === inode) return;
    if (inode.kind === "directory" && `${resolved(to)}/`.startsWith(`${resolved(from)}/`)) {
      throw fileError("EINVAL", "rename", from, to);
    }
    if (replaced?.kind === "directory") {
      if (inode.kind === "file") throw fileError("EISDIR", "rename", from, to);
      if (replaced.entries.size > 0) throw fileError("ENOTEMPTY", "rename", from, to);
      this.usedPages--;
    } else if (replaced !== undefined && inode.kind === "directory") throw fileError("ENOTDIR", "rename", from, to);
    this.#change(now, { ...source, inode: undefined }, { ...target, inode });
    if (replaced?.kind === "file") this.#unlink(replaced);
  }

  /** Bytes of `[position, position + length)` that find space. */
  fitting(inode: FileInode, position: number, length: number, limitBytes: number): number {
    return inode.fitting(position, length, this.freePages(limitBytes));
  }

  /** Runs a change of a file's content, and accounts for it. */
  edit(inode: FileInode, now: number, change: (order: number) => void): void {
    const before = inode.allocatedPages;
    change(++this.order);
    inode.modifiedMillis = now;
    this.dirty.add(inode);
    if (inode.links > 0 || inode.handles > 0) this.usedPages += inode.allocatedPages - before;
  }

  /** A handle is gone; a file without handles and names gives its space back. */
  released(inode: FileInode): void {
    inode.handles--;
    if (inode.handles === 0 && inode.links === 0) this.usedPages -= inode.allocatedPages + 1;
  }

  /** After a crash or a kill: no handle is open, and what no name reaches is gone. */
  recount(): void {
    for (const { inode } of this.walk()) if (inode.kind === "file") inode.links = 0;
    this.usedPages = 1;
    for (const { inode } of this.walk()) {
      if (inode.kind === "directory") this.usedPages++;
      else if (inode.links++ === 0) {
        inode.handles = 0;
        this.usedPages += inode.allocatedPages + 1;
      }
    }
  }

  /** Every name, with its path, in the cache or as it's durable. */
  *walk(durable = false, at: DirectoryInode = this.root, path = ""): Generator<{ path: string; inode: Inode }> {
    for (const [name, inode] of durable ? at.durable : at.entries) {
      yield { path: `${path}/${name}`, inode };
      if (inode.kind === "directory") yield* this.walk(durable, inode, `${path}/${name}`);
    }
  }

  /** What is durably at `path`. */
  findDurable(path: string): Inode | undefined {
    let inode: Inode | undefined = this.root;
    for (const name of partsOf(path)) inode = inode?.kind === "directory" ? inode.durable.get(name) : undefined;
    return inode;
  }

  #unlink(inode: FileInode): void {
    inode.links--;
    if (inode.links === 0 && inode.handles === 0) this.usedPages -= inode.allocatedPages + 1;
  }

  #place(path: string, syscall: string): Place {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) throw fileError("EPERM", syscall, path);
    return { directory: this.directory(`/${parts.join("/")}`, syscall), name };
  }

  #vacant(path: string, syscall: string, limitBytes: number): Place {
    if (partsOf(path).length === 0) throw fileError("EEXIST", syscall, path);
    const place = this.#place(path, syscall);
    if (place.directory.entries.has(place.name)) throw fileError("EEXIST", syscall, path);
    if (this.freePages(limitBytes) < 1) throw fileError("ENOSPC", syscall, path);
    return place;
  }

  #change(now: number, ...changes: NameChange[]): void {
    this.names.add(++this.order, changes);
    for (const { directory, name, inode } of changes) {
      directory.modifiedMillis = now;
      if (inode === undefined) directory.entries.delete(name);
      else directory.entries.set(name, inode);
      this.onNames(directory);
    }
  }
}

/** The absolute form of a path: the simulated process works in the root. */
export function resolved(path: string): string {
  return posix.resolve("/", path);
}

function partsOf(path: string): string[] {
  return resolved(path)
    .split("/")
    .filter((part) => part !== "");
}
