import { EhdbError, isEhdbError } from "@ehdb/contracts";
import { CommanderError } from "commander";
import { exit, exitCodeOf } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { programOf } from "./program.ts";
import type { Outcome } from "./program.ts";

/** Runs the command that the arguments say, and resolves with the exit code. It prints what is wrong. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const outcome: Outcome = { code: exit.fine };
  const program = programOf(io, outcome);
  try {
    if (args.length === 0) program.help({ error: true });
    await program.parseAsync(args, { from: "user" });
    return outcome.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.fine : exit.usage;
    if (io.signal.aborted && isEhdbError(error, "ABORTED")) return exit.cannot;
    await tell(io, error, args.includes("--json"));
    return exitCodeOf(error);
  }
}

async function tell(io: Io, error: unknown, isForMachines: boolean): Promise<void> {
  const known = error instanceof EhdbError ? error : undefined;
  const message = error instanceof Error ? error.message : String(error);
  io.err(`error: ${known === undefined ? message : `${known.code}: ${message}`}\n`);
  if (known === undefined && error instanceof Error) io.err(`${error.stack ?? ""}\n`);
  if (!isForMachines) return;
  await io.out(`${JSON.stringify({ error: known ?? { code: "UNEXPECTED", kind: "report", message, data: {} } })}\n`);
}
