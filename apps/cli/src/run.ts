import { EhdbError, isEhdbError } from "@ehdb/contracts";
import { CommanderError } from "commander";
import { exit, exitCodeOf } from "./exit-codes.ts";
import { NobodyReads } from "./io.ts";
import type { Io } from "./io.ts";
import { printable, printableLines } from "./printable.ts";
import { programOf } from "./program.ts";
import type { Outcome } from "./program.ts";
import { saidHere } from "./said-here.ts";

/** Runs the command that the arguments say, and resolves with the exit code. It prints what is wrong. */
export async function run(args: readonly string[], given: Io): Promise<number> {
  const outcome: Outcome = { code: exit.fine };
  const isForMachines = args.includes("--json");
  let hasPrinted = false;
  const io: Io = {
    ...given,
    out: async (text) => {
      hasPrinted ||= text !== "";
      await given.out(text);
    },
  };
  // A document is what stands alone on standard output, so that it isn't taken for an event.
  const document = async (error: object): Promise<void> => {
    if (isForMachines && !hasPrinted) await io.out(`${JSON.stringify({ error })}\n`);
  };
  const program = programOf(io, outcome);
  try {
    if (args.length === 0) program.help({ error: true });
    await program.parseAsync(args, { from: "user" });
    return outcome.code;
  } catch (thrown) {
    const error: unknown = thrown instanceof EhdbError ? saidHere(thrown) : thrown;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exit.fine;
      // The parser has told it to people.
      const message = error.message.replace(/^error: /, "");
      await document(documented(new EhdbError("INVALID_ARGUMENT", message, { parser: error.code })));
      return exit.usage;
    }
    if (io.signal.aborted && isEhdbError(error, "ABORTED")) {
      const reason: unknown = io.signal.reason;
      if (reason instanceof NobodyReads) return exit.fine;
      // An error that somebody else tells.
      if (reason instanceof EhdbError) return exit.cannot;
    }
    tell(io, error);
    await document(documented(error));
    return exitCodeOf(error);
  }
}

function tell(io: Io, error: unknown): void {
  const text = error instanceof EhdbError ? `${error.code}: ${error.message}` : messageOf(error);
  // Messages hold names.
  io.err(`error: ${printable(text)}\n`);
  if (!(error instanceof EhdbError) && error instanceof Error) io.err(`${printableLines(error.stack ?? "")}\n`);
}

function documented(error: unknown): object {
  if (error instanceof EhdbError) {
    const { code, kind, message, data } = error;
    return { code, kind, message, data };
  }
  return { code: "UNEXPECTED", kind: "report", message: messageOf(error), data: {} };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
