import { feedRules, runConformance } from "@ehdb/contracts";
import type { EventLog, FeedSubject } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { eventLogSource, logSource, referenceFeed } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Over the events of a log in memory, on a machine whose clock stands still until a rule moves it. */
async function overEvents(): Promise<FeedSubject> {
  const host = simulatedHost({ seed: 1 });
  const log: EventLog = await referenceEventLog({ host });
  const open = (): FeedSubject => {
    const feed = referenceFeed({ source: eventLogSource(log), host });
    return {
      feed,
      append: async (...records) => {
        for (const { subject, key = subject } of records) await log.append(key, { type: subject });
        return log.position;
      },
      dropBefore: async (sequence) => void (await log.reclaim({ maxEvents: log.position + 1 - sequence })),
      now: () => host.clock.now(),
      advance: (millis) => host.advance(millis),
      reopen: async () => open(),
      close: async () => {
        await feed.close();
        await log.close();
      },
    };
  };
  return open();
}

/** Over a log dataset of an engine. */
async function overADataset(): Promise<FeedSubject> {
  const host = simulatedHost({ seed: 1 });
  const engine = await openEngine({ dir: "/store", datasets: [{ name: "jobs", order: "by-sort" }], host });
  const source = logSource(engine, "jobs", { subject: ({ payload }) => text(payload) });
  const open = (): FeedSubject => {
    const feed = referenceFeed({ source, host });
    return {
      feed,
      append: async (...records) => {
        const commits = records.map(({ subject, key = subject }) =>
          engine.commit((batch) => batch.append("jobs", key, Buffer.from(subject))),
        );
        await Promise.all(commits);
        return engine.log("jobs").last;
      },
      dropBefore: (sequence) => engine.raiseFloor("jobs", sequence),
      now: () => host.clock.now(),
      advance: (millis) => host.advance(millis),
      reopen: async () => open(),
      close: async () => {
        await feed.close();
        await engine.close();
      },
    };
  };
  return open();
}

describe.each([
  ["events", overEvents],
  ["a dataset", overADataset],
])("the reference feed over %s", (_, open) => {
  test.each(feedRules)("$name", async (rule) => {
    const [outcome] = await runConformance([rule], new Set(), open);
    if (outcome?.outcome === "failed") throw outcome.error;
    expect(outcome?.rule).toBe(rule.name);
  });
});
