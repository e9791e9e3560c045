import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type EventLogCapability, eventLogRules, type EventLogSubject, runConformance } from "@ehdb/contracts";
import { type EventLogOptions, openEventLog } from "@ehdb/eventlog";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dedupeWindow, subject } from "./drive.ts";

const all = new Set<EventLogCapability>(["dedupe", "truncation", "consumers", "reclaim", "import", "persistence"]);

async function holds(rule: (typeof eventLogRules)[number], open: () => Promise<EventLogSubject>): Promise<void> {
  const [outcome] = await runConformance([rule], all, open);
  if (outcome?.outcome === "failed") throw outcome.error;
  expect(outcome?.outcome).toBe("passed");
}

describe.each<{ how: string; options: Partial<EventLogOptions> }>([
  { how: "in memory until it's full", options: {} },
  { how: "when every few commits make parts", options: { sealMaxCommits: 3 } },
])("the durable event log, $how", ({ options }) => {
  test.each(eventLogRules)("$name", (rule) => holds(rule, () => subject(options)));
});

describe("the durable event log in a real directory", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "ehdb-eventlog-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function open(dir = join(folder, randomUUID())): Promise<EventLogSubject> {
    const log = await openEventLog({ dir, dedupeWindow });
    return { log, dedupeWindow, advance: delay, reopen: () => open(dir) };
  }

  test.each(eventLogRules)("$name", (rule) => holds(rule, open));
});
