import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openEventLog } from "@ehdb/eventlog";
import { realHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import type { Journal, JournalRecord, RecordStream } from "@ehdb/journal";
import { openEngine } from "@ehdb/l0";
import { defaults } from "../src/options.ts";
import type { RunOptions } from "../src/options.ts";
import type { Report } from "../src/report.ts";
import { run } from "../src/run.ts";
import type { Verb, VerbContext } from "../src/verb.ts";
import { inDirectory } from "./program.ts";

type Doors = Pick<VerbContext, "openJournal" | "openEventLog" | "openEngine">;

/** One verb from its source, on stores that a test may have tampered with. */
export async function runVerb(
  verb: Verb,
  doors: Partial<Doors> = {},
  options: Partial<RunOptions> = {},
): Promise<Report> {
  const victim = fileURLToPath(new URL("../dist/victim.js", import.meta.url));
  if (!existsSync(victim)) throw new Error(`${victim} isn't there: build first (npx tsc -b apps/selfcheck)`);
  const [report] = await inDirectory((dir) =>
    run({
      host: realHost(),
      verbs: [verb],
      options: { ...defaults, events: 300, kills: 1, dir, strict: false, keep: false, ...options },
      signal: new AbortController().signal,
      openJournal,
      openEventLog,
      openEngine,
      ...doors,
      victim,
      onProgress: () => undefined,
      onReport: () => undefined,
      onKept: () => undefined,
    }),
  );
  return report as Report;
}

/** A real journal, of which one way to read passes over one record. */
export function dropping(journal: Journal, method: "scan" | "tail", dropped: number): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== method) return value.bind(target) as unknown;
      return (...args: unknown[]) => without(value.apply(target, args) as RecordStream, dropped);
    },
  });
}

const without = (stream: RecordStream, dropped: number): RecordStream => ({
  async *batches() {
    for await (const records of stream.batches()) yield records.filter(({ sequence }) => sequence !== dropped);
  },
  async *[Symbol.asyncIterator](): AsyncGenerator<JournalRecord> {
    for await (const record of stream) if (record.sequence !== dropped) yield record;
  },
});

export const failedSteps = (report: Report): string[] =>
  report.steps.filter((step) => !step.ok).map((step) => `${step.name}: ${step.message}`);
