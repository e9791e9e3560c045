import type { DirectoryInode } from "./directory.ts";
import type { FileInode } from "./inode.ts";
import type { Machine } from "./machine.ts";
import type { Effect } from "./operation.ts";

/** A sync of a file's content and size, issued now: what is written later it may cover or not. */
export function fileSync(machine: Machine, inode: FileInode): Effect<void> {
  const { disk, scheduling } = machine;
  const snapshot = inode.snapshot(disk.order);
  return (operation) => {
    if (operation.fault !== undefined) {
      inode.failSync(snapshot, disk.order);
      throw operation.error(operation.fault);
    }
    if (lies(machine)) return;
    const later = disk.order - snapshot.order;
    inode.sync(snapshot, snapshot.order + (later === 0 ? 0 : scheduling.integer(later + 1)));
    if (!inode.isDirty()) disk.dirty.delete(inode);
  };
}

/** A sync of a directory's names, as `fileSync`. The directory is looked up when its turn comes. */
export function directorySync(machine: Machine, find: () => DirectoryInode): Effect<void> {
  const { disk } = machine;
  const issuedAt = disk.order;
  return (operation) => {
    const directory = find();
    if (operation.fault !== undefined) {
      disk.names.failSync(directory, issuedAt);
      throw operation.error(operation.fault);
    }
    if (lies(machine)) return;
    const later = disk.order - issuedAt;
    disk.names.sync(directory, issuedAt + (later === 0 ? 0 : machine.scheduling.integer(later + 1)));
  };
}

function lies({ faults, mishaps, statistics }: Machine): boolean {
  if (!mishaps.chance(faults.lyingSync)) return false;
  statistics.lyingSyncs++;
  return true;
}
