import { feedRules, runConformance } from "@ehdb/contracts";
import type { FeedSubject } from "@ehdb/contracts";
import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import { eventLogSource, feedDatasets, feedOn, logSource, openFeed } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Groups and events in one engine. */
async function overEvents(): Promise<FeedSubject> {
  const host = simulatedHost({ seed: 1 });
  const engine = await openEngine({ dir: "/store", datasets: [...eventLogDatasets, ...feedDatasets], host });
  const log = await eventLogOn(engine, { host });
  const open = async (): Promise<FeedSubject> => {
    const feed = await feedOn(engine, { source: eventLogSource(log), host });
    return {
      feed,
      append: async (...records) => {
        await Promise.all(records.map(({ subject, key = subject }) => log.append(key, { type: subject })));
        return log.position;
      },
      dropBefore: async (sequence) => void (await log.reclaim({ maxEvents: log.position + 1 - sequence })),
      now: () => host.clock.now(),
      advance: (millis) => host.advance(millis),
      reopen: open,
      close: async () => {
        await feed.close();
        await log.close();
        await engine.close();
      },
    };
  };
  return await open();
}

/** Groups in an engine of their own, over a log dataset of another one. */
async function overADataset(): Promise<FeedSubject> {
  const host = simulatedHost({ seed: 1 });
  const engine = await openEngine({ dir: "/store", datasets: [{ name: "jobs", order: "by-sort" }], host });
  const source = logSource(engine, "jobs", { subject: ({ payload }) => text(payload) });
  const open = async (): Promise<FeedSubject> => {
    const feed = await openFeed({ dir: "/groups", source, host });
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
      reopen: open,
      close: async () => {
        await feed.close();
        await engine.close();
      },
    };
  };
  return await open();
}

describe.each([
  ["events of its own engine", overEvents],
  ["a dataset of another one", overADataset],
])("the durable feed over %s", (_, open) => {
  test.each(feedRules)("$name", async (rule) => {
    const [outcome] = await runConformance([rule], new Set(["persistence"]), open);
    if (outcome?.outcome === "failed") throw outcome.error;
    expect(outcome?.rule).toBe(rule.name);
  });
});
