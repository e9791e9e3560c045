#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import { realHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import { openEngine } from "@ehdb/l0";
import { Checks, describeError } from "./checks.ts";
import { NothingToRun, parseCommandLine } from "./command-line.ts";
import type { Invocation } from "./command-line.ts";
import { interruptionSignal } from "./interruption.ts";
import { exitCodes, SelfcheckError, USAGE_EXIT_CODE, worstOutcome } from "./outcome.ts";
import { Progress } from "./progress.ts";
import type { Report } from "./report.ts";
import { run } from "./run.ts";
import { formatReport } from "./table.ts";
import { verbs } from "./verbs/index.ts";

async function main(): Promise<number> {
  // Who can't be told still gets the exit code.
  process.stderr.on("error", () => undefined);
  // Whoever read has gone, as `head` does: the run goes on, so that it cleans up behind itself.
  process.stdout.on("error", () => undefined);
  let invocation: Invocation;
  try {
    invocation = parseCommandLine(process.argv.slice(2), verbs);
  } catch (error) {
    if (!(error instanceof NothingToRun)) throw error;
    if (error.asked) return 0;
    if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify({ error: usageOf(error) })}\n`);
    return USAGE_EXIT_CODE;
  }
  const interruption = interruptionSignal();
  const progress = new Progress(process.stderr, !invocation.quiet);
  const host = realHost();
  let reported = 0;
  try {
    const reports = await run({
      host,
      verbs: invocation.verbs,
      options: invocation.options,
      signal: interruption.signal,
      openJournal,
      openEventLog,
      openEngine,
      victim: fileURLToPath(new URL("victim.js", import.meta.url)),
      onProgress: (verb, done, total) => progress.show(verb, done, total),
      onReport: (report) => {
        progress.clear();
        reported += 1;
        print(report, invocation);
      },
      onKept: (directory) => process.stderr.write(`kept: ${directory}\n`),
    });
    return exitCodes[worstOutcome(reports.map((report) => report.outcome))];
  } catch (error) {
    if (interruption.signal.aborted && isEhdbError(error, "ABORTED")) return interruption.exitCode();
    if (invocation.json && reported === 0)
      for (const report of nothingRan(invocation, error)) print(report, invocation);
    process.stderr.write(`error: ${describeError(error)}\n`);
    return exitCodes[error instanceof SelfcheckError ? error.outcome : "unavailable"];
  } finally {
    progress.clear();
    interruption.stopListening();
    await host.workers.close();
  }
}

/** For programs; people have been told. */
function usageOf({ message }: NothingToRun): object {
  const { code, kind, data } = new EhdbError("INVALID_ARGUMENT", message);
  return { code, kind, message, data };
}

/** Programs get their line a verb also when there is no place to work in. */
function nothingRan({ verbs, options }: Invocation, error: unknown): Report[] {
  return verbs.map((verb) => {
    const checks = new Checks(options.strict, verb.facts);
    checks.failed("started", error);
    return checks.report(verb.name, options.seed, 0);
  });
}

function print(report: Report, { json, quiet }: Invocation): void {
  const colours = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const text = json ? JSON.stringify(report) : formatReport(report, { colours, quiet });
  if (text.length > 0) process.stdout.write(`${text}\n`);
}

process.exitCode = await main();
