import { MIB } from "@ehdb/contracts";
import { SelfcheckError } from "./outcome.ts";
import type { VerbContext } from "./verb.ts";

/** Half as much again as what is stored, for what a log adds and prepares; said before anything is written. */
export async function needRoom(context: VerbContext, bytes: number): Promise<void> {
  const needed = Math.ceil((bytes * 1.5) / MIB) + 64;
  const free = Math.floor((await context.host.files.freeBytes(context.directory)) / MIB);
  if (free >= needed) return;
  throw new SelfcheckError(
    "unavailable",
    `${needed} MiB are needed and ${free} MiB are free in ${context.directory}: give fewer --events or another --dir`,
  );
}
