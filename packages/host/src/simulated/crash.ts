import type { NameOperation } from "./directory.ts";
import type { Disk } from "./disk.ts";
import type { Statistics } from "./statistics.ts";
import type { Stream } from "./stream.ts";
import { type Keep, Survival } from "./survival.ts";

const KEEPS: readonly [Keep, ...Keep[]] = ["nothing", "everything", "sectors", "prefix"];

/**
 * Cuts the power of a disk: leaves on it what the seed says of all that wasn't synced. Content and names are judged
 * apart, since a disk may be quick with one and slow with the other; `keep` forces one way for both.
 */
export function crashDisk(disk: Disk, stream: Stream, statistics: Statistics, keep?: Keep): void {
  const contentKeep = keep ?? stream.pick(KEEPS);
  const namesKeep = keep ?? (contentKeep === "prefix" && stream.chance(0.5) ? "prefix" : stream.pick(KEEPS));
  const oldest = oldestUnsynced(disk);
  const cut = oldest + stream.integer(disk.order + 2 - oldest);
  const failedPagesLost = stream.chance(0.5);

  statistics.lostDirectoryOperations += disk.names.crash((operation) => keepsName(operation, namesKeep, cut, stream));
  const survival = new Survival({ keep: contentKeep, cut, failedPagesLost, stream });
  for (const inode of disk.dirty) survival.apply(inode);
  survival.count(statistics);
  disk.dirty.clear();
  disk.recount();
}

function keepsName({ order, syncFailed }: NameOperation, keep: Keep, cut: number, stream: Stream): boolean {
  if (keep === "nothing") return false;
  if (keep === "sectors" || syncFailed) return stream.chance(0.5);
  if (keep === "everything") return true;
  return order < cut || (order === cut && stream.chance(0.5));
}

function oldestUnsynced(disk: Disk): number {
  let oldest = disk.names.oldest ?? disk.order + 1;
  for (const inode of disk.dirty) {
    for (const page of inode.dirty.values()) oldest = Math.min(oldest, page.extents[0]?.order ?? oldest);
  }
  return oldest;
}
