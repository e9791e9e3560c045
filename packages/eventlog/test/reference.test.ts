import { type EventLogCapability, eventLogRules, type EventLogSubject, runConformance } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost, type SimulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";

const dedupeWindow = 64;
const inMemory: EventLogCapability[] = ["dedupe", "truncation", "consumers", "reclaim", "import"];

/** A subject on a simulated machine, whose clock stands still until a rule moves it. */
async function open(
  file: { file?: string },
  host: SimulatedHost = simulatedHost({ seed: 1 }),
): Promise<EventLogSubject> {
  const log = await referenceEventLog({ host, dedupeWindow, ...file });
  return { log, dedupeWindow, advance: (millis) => host.advance(millis), reopen: () => open(file, host) };
}

describe.each([
  { where: "in memory", file: {}, capabilities: inMemory },
  { where: "with a file", file: { file: "/log/events.jsonl" }, capabilities: [...inMemory, "persistence" as const] },
])("the reference event log $where", ({ file, capabilities }) => {
  test.each(eventLogRules)("$name", async (rule) => {
    const [outcome] = await runConformance([rule], new Set(capabilities), () => open(file));
    if (outcome?.outcome === "failed") throw outcome.error;
    expect(outcome?.rule).toBe(rule.name);
  });
});
