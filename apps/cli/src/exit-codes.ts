import { isEhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";

/** Exit codes are API. */
export const exit = {
  fine: 0,
  /** Damage or a difference was found. */
  found: 1,
  /** The command was wrong: another one would do. */
  usage: 2,
  /** It can't be done now: locked, no space, the disk. */
  cannot: 3,
} as const;

const damage: ReadonlySet<ErrorCode> = new Set(["CORRUPT", "SEQUENCE_LOST"]);

export function exitCodeOf(error: unknown): number {
  if (!isEhdbError(error)) return exit.cannot;
  if (damage.has(error.code)) return exit.found;
  if (error.code === "READ_ONLY" || error.code === "UNSUPPORTED_VERSION") return exit.cannot;
  return error.kind === "fix-the-call" ? exit.usage : exit.cannot;
}
