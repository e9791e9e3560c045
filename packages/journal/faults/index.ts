import type { Fault } from "@ehdb/harness";
import { failsAnywhere } from "./failing-anywhere.ts";
import { poisons, waitsForSpace } from "./failing-calls.ts";
import { filledByAppends, filledByOthers, tooSmall } from "./full-disk.ts";
import { filesInOpen, filesInUse, readOnlyMount, unwritableDirectory } from "./limits.ts";
import { stoppedWriter } from "./stopped-writer.ts";
import { killedHolder, lockedOut, lockRemoved, waitsForLock } from "./two-processes.ts";

const anyRename = "?rename,?renameat,?renameat2";
const kib = 1024;

/** What the machine does to a journal, for real; none of it needs more than a few seconds. */
export const faults: readonly Fault[] = [
  ...[1, 2, 7].map((n) =>
    poisons({
      name: `EIO in fdatasync ${n} of a running journal`,
      injection: { calls: "fdatasync", error: "EIO", when: String(n) },
      threads: "all",
      recordBytes: 500,
    }),
  ),
  poisons({
    name: "EIO in a write to the segment",
    injection: { calls: "pwrite64", error: "EIO", when: "3" },
    threads: "main",
    recordBytes: 500,
  }),
  poisons({
    name: "EIO while zeros are written ahead",
    injection: { calls: "pwrite64", error: "EIO", when: "2" },
    threads: "others",
    recordBytes: 16 * kib,
    inBackground: true,
  }),
  poisons({
    name: "EIO in the directory's fsync at a roll",
    injection: { calls: "fsync", error: "EIO", when: "1" },
    threads: "all",
    recordBytes: 16 * kib,
    inBackground: true,
  }),
  poisons({
    name: "EIO in a new segment's rename",
    injection: { calls: anyRename, error: "EIO", when: "1" },
    threads: "all",
    recordBytes: 16 * kib,
    inBackground: true,
  }),
  waitsForSpace({
    name: "ENOSPC while zeros are written ahead",
    injection: { calls: "pwrite64", error: "ENOSPC", when: "1+" },
    threads: "others",
    recordBytes: 16 * kib,
  }),
  failsAnywhere("EIO in fdatasync", { calls: "fdatasync", error: "EIO" }, [1, 2, 3, 40]),
  failsAnywhere("EIO in fsync", { calls: "fsync", error: "EIO" }, [1, 2, 3, 5]),
  failsAnywhere("EIO in rename", { calls: anyRename, error: "EIO" }, [1, 2, 3]),
  failsAnywhere("EIO in pwrite64", { calls: "pwrite64", error: "EIO" }, [1, 2, 6, 20]),
  failsAnywhere("EIO in pread64", { calls: "pread64", error: "EIO" }, [1, 2, 5, 30]),
  failsAnywhere("EIO in ftruncate", { calls: "ftruncate", error: "EIO" }, [1]),
  failsAnywhere("EIO in unlink", { calls: "?unlink,?unlinkat", error: "EIO" }, [1, 2]),
  filledByAppends,
  filledByOthers,
  tooSmall("a disk too small for the first segment", "size=8k"),
  tooSmall("a disk without room for one more file", "size=8m,nr_inodes=3"),
  lockedOut,
  lockRemoved,
  waitsForLock,
  killedHolder,
  stoppedWriter,
  filesInOpen,
  filesInUse,
  unwritableDirectory,
  readOnlyMount,
];
