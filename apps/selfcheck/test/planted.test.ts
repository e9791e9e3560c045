import { realHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import type { Journal, JournalRecord, RecordStream } from "@ehdb/journal";
import { expect, test } from "vitest";
import { defaults } from "../src/options.ts";
import { exitCodes } from "../src/outcome.ts";
import type { Report } from "../src/report.ts";
import { run } from "../src/run.ts";
import type { Run } from "../src/run.ts";
import { journalVerb } from "../src/verbs/journal.ts";
import { inDirectory } from "./program.ts";

const DROPPED = 77;

/** A real journal whose readers pass over one record. */
function dropping(journal: Journal, method: "scan" | "tail"): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== method) return value.bind(target);
      return (...args: unknown[]) => without(value.apply(target, args) as RecordStream);
    },
  });
}

const without = (stream: RecordStream): RecordStream => ({
  async *batches() {
    for await (const records of stream.batches()) yield records.filter(({ sequence }) => sequence !== DROPPED);
  },
  async *[Symbol.asyncIterator](): AsyncGenerator<JournalRecord> {
    for await (const record of stream) if (record.sequence !== DROPPED) yield record;
  },
});

async function check(openJournalOfRun: Run["openJournal"]): Promise<Report> {
  const [report] = await inDirectory((dir) =>
    run({
      host: realHost(),
      verbs: [journalVerb],
      options: { ...defaults, events: 300, dir, strict: false, keep: false },
      signal: new AbortController().signal,
      openJournal: openJournalOfRun,
      victim: "",
      onProgress: () => undefined,
      onReport: () => undefined,
      onKept: () => undefined,
    }),
  );
  return report as Report;
}

test("a log that delivers everything is equal", async () => {
  expect(await check(openJournal)).toMatchObject({ ok: true, outcome: "ok" });
});

test.each(["scan", "tail"] as const)("a %s that drops one event is reported as not equal, exit code 5", async (method) => {
  const report = await check(async (options) => dropping(await openJournal(options), method));
  expect(report).toMatchObject({ ok: false, outcome: "not equal" });
  expect(exitCodes[report.outcome]).toBe(5);
  const failed = report.steps.filter((step) => !step.ok);
  expect(failed.map((step) => step.message).join()).toContain(`sequence ${DROPPED + 1} comes after ${DROPPED - 1}`);
});
