import { tmpdir } from "node:os";
import { join } from "node:path";
import { throwIfAborted } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { Checks } from "./checks.ts";
import { loadEvents } from "./events.ts";
import type { Events } from "./events.ts";
import type { RunOptions } from "./options.ts";
import type { Report } from "./report.ts";
import { orStall } from "./stall.ts";
import { rounded } from "./figures.ts";
import type { Verb, VerbContext } from "./verb.ts";
import { makeWorkspace } from "./workspace.ts";

export interface Run {
  readonly host: Host;
  readonly verbs: readonly Verb[];
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  readonly openJournal: VerbContext["openJournal"];
  readonly openEventLog: VerbContext["openEventLog"];
  readonly openEngine: VerbContext["openEngine"];
  readonly victim: string;
  /** Called as the run goes on; a verb's report comes as soon as it has ended. */
  readonly onProgress: (verb: string, done: number, total: number) => void;
  readonly onReport: (report: Report) => void;
  /** Where the run's directory was left, with `keep`. */
  readonly onKept: (directory: string) => void;
}

/** The verbs one after the other, in a directory of their own that is removed in the end, however the run ends. */
export async function run(run: Run): Promise<Report[]> {
  const workspace = await makeWorkspace(run.host, run.options.dir ?? tmpdir());
  try {
    const reports: Report[] = [];
    const events = once(() => loadEvents(run.host, run.options, run.signal));
    for (const verb of run.verbs) {
      throwIfAborted(run.signal, verb.name);
      const report = await runVerb(run, verb, join(workspace.directory, verb.name), events);
      reports.push(report);
      run.onReport(report);
    }
    return reports;
  } finally {
    if (run.options.keep) run.onKept(workspace.directory);
    else await workspace.remove();
  }
}

async function runVerb(run: Run, verb: Verb, directory: string, events: () => Promise<Events>): Promise<Report> {
  const { host, options, signal, openJournal, openEventLog, openEngine, victim } = run;
  const checks = new Checks(options.strict, verb.facts);
  const started = host.clock.monotonic();
  try {
    await host.files.makeDirectory(directory);
    const progress = (done: number, total: number): void => run.onProgress(verb.name, done, total);
    const machine = { host, directory, options, signal, victim, openJournal, openEventLog, openEngine };
    await orStall(verb.run({ ...machine, events, progress }, checks));
  } catch (error) {
    checks.failed("went through", error);
  }
  return checks.report(verb.name, options.seed, rounded((host.clock.monotonic() - started) / 1000));
}

/** Whoever asks again gets the first answer, or the first error. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
