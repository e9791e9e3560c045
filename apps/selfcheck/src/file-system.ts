import { statfs } from "node:fs/promises";

/** The kernel's magic numbers (linux/magic.h) of the file systems that people keep data on. */
const linuxTypes: Readonly<Record<number, string>> = {
  0xef53: "ext4",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x2fc12fc1: "zfs",
  0xf2f52010: "f2fs",
  0xca451a4e: "bcachefs",
  0x01021994: "tmpfs",
  0x858458f6: "ramfs",
  0x794c7630: "overlay",
  0x6969: "nfs",
  0xff534d42: "cifs",
  0xfe534d42: "smb2",
  0x65735546: "fuse",
  0x01021997: "9p",
  0x6a656a63: "virtiofs",
};

const volatileTypes: ReadonlySet<string> = new Set(["tmpfs", "ramfs"]);
const remoteTypes: ReadonlySet<string> = new Set(["nfs", "cifs", "smb2", "9p", "fuse", "virtiofs"]);

/** The type of the file system that `path` is on, or undefined where the system doesn't say. */
export async function fileSystemType(path: string): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  return linuxTypes[(await statfs(path)).type];
}

/** What the type means for a log, where it means something. */
export function fileSystemNote(type: string | undefined): string | undefined {
  if (type === undefined) return undefined;
  if (volatileTypes.has(type))
    return `${type} is memory: figures say nothing of a disk, and a power loss takes all. Give a --dir on a disk`;
  if (remoteTypes.has(type)) return `${type}: whether syncs and locks hold is up to what is behind it`;
  return undefined;
}
