import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { realHost } from "@ehdb/host";
import type { Journal, JournalRecord, RecordStream } from "@ehdb/journal";
import { defaults } from "../src/options.ts";
import type { Report } from "../src/report.ts";
import { run } from "../src/run.ts";
import type { Verb, VerbContext } from "../src/verb.ts";
import { inDirectory } from "./program.ts";

/** One verb from its source, on a journal that a test may have tampered with. */
export async function runVerb(verb: Verb, openJournal: VerbContext["openJournal"]): Promise<Report> {
  const victim = fileURLToPath(new URL("../dist/victim.js", import.meta.url));
  if (!existsSync(victim)) throw new Error(`${victim} isn't there: build first (npx tsc -b apps/selfcheck)`);
  const [report] = await inDirectory((dir) =>
    run({
      host: realHost(),
      verbs: [verb],
      options: { ...defaults, events: 300, kills: 1, dir, strict: false, keep: false },
      signal: new AbortController().signal,
      openJournal,
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
