import type { EventLog, FeedSource } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import { eventLogSource, logSource, referenceFeed } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";

interface Stage {
  readonly source: FeedSource<unknown>;
  readonly append: (key: string) => Promise<unknown>;
  readonly erase: (key: string) => Promise<unknown>;
  readonly close: () => Promise<unknown>;
  readonly reopen: () => Promise<Stage>;
}

const machine = simulatedHost;

async function overEvents(host = machine({ seed: 1 })): Promise<Stage> {
  const log: EventLog = await openEventLog({ dir: "/log", host });
  return {
    source: eventLogSource(log) as FeedSource<unknown>,
    append: (stream) => log.append(stream, { type: "placed" }),
    erase: (stream) => log.deleteStream(stream),
    close: () => log.close(),
    reopen: () => overEvents(host),
  };
}

async function overADataset(host = machine({ seed: 1 })): Promise<Stage> {
  const engine = await openEngine({ dir: "/store", datasets: [{ name: "jobs", order: "by-sort" }], host });
  return {
    source: logSource(engine, "jobs"),
    append: (key) => engine.commit((batch) => batch.append("jobs", key, Buffer.from("job"))),
    erase: async (key) => {
      await engine.commit((batch) => batch.erase("jobs", key, 100));
      await engine.scavenge();
    },
    close: () => engine.close(),
    reopen: () => overADataset(host),
  };
}

async function sequencesFrom({ source }: Stage, from: number, limit = 100): Promise<number[]> {
  const found: number[] = [];
  for await (const batch of source.read(from, limit)) found.push(...batch.map((one) => source.sequenceOf(one)));
  return found;
}

describe.each([
  ["events", overEvents],
  ["a dataset", overADataset],
])("a source of %s", (_, open) => {
  test("reads from a sequence on, over what was erased", async () => {
    const stage = await open();
    for (const key of ["a", "b", "a", "c"]) await stage.append(key);
    expect(await sequencesFrom(stage, 2, 2)).toEqual([2, 3]);
    await stage.erase("a");
    expect([stage.source.first, stage.source.last]).toEqual([1, 4]);
    expect(await sequencesFrom(stage, 1)).toEqual([2, 4]);
    await stage.close();
  });

  test("hears of what comes, of its signal, and of a close", async () => {
    const stage = await open();
    const { source } = stage;
    const never = new AbortController();
    const coming = source.news(0, never.signal);
    await stage.append("a");
    await coming;
    await source.news(0, never.signal);
    const stop = new AbortController();
    const stopped = source.news(1, stop.signal);
    stop.abort();
    await stopped;
    const closing = source.news(1, never.signal);
    await stage.close();
    await closing;
  });

  test("says when what was seen isn't what is there", async () => {
    const stage = await open();
    await stage.append("a");
    await stage.source.assertContinues(1, stage.source.epoch);
    await stage.source.assertContinues(0, stage.source.epoch);
    await expect(stage.source.assertContinues(2, stage.source.epoch)).rejects.toMatchObject({ code: "OUT_OF_RANGE" });
    await stage.close();
    const again = await stage.reopen();
    await again.source.assertContinues(1, 1);
    await expect(again.source.assertContinues(2, 1)).rejects.toMatchObject({ code: "TRUNCATED" });
    await again.close();
  });

  test("what comes while a fetch looks isn't passed over", async () => {
    const host = machine({ seed: 1 });
    const stage = await open(host);
    await stage.append("a");
    const source: FeedSource<unknown> = {
      ...stage.source,
      get last() {
        return stage.source.last;
      },
      get first() {
        return stage.source.first;
      },
      async *read(...call) {
        yield* stage.source.read(...call);
        if (stage.source.last < 3) await stage.append("b");
      },
    };
    const feed = referenceFeed({ source, host });
    const group = await feed.createGroup("g");
    const fetched = async (): Promise<number[]> =>
      (await group.fetch({ member: "m", waitSeconds: 60 })).map(({ sequence }) => sequence);
    expect([await fetched(), await fetched(), await fetched()]).toEqual([[1], [2], [3]]);
    await feed.close();
    await stage.close();
  });

  test("what was erased while it was out isn't delivered again", async () => {
    const host = machine({ seed: 1 });
    const stage = await open(host);
    for (const key of ["a", "b"]) await stage.append(key);
    const feed = referenceFeed({ source: stage.source, host });
    const group = await feed.createGroup("g", { leaseSeconds: 1 });
    await group.fetch({ member: "m" });
    await stage.erase("a");
    await host.advance(1000);
    expect((await group.fetch({ member: "m" })).map(({ sequence }) => sequence)).toEqual([2]);
    expect((await group.info()).committed).toBe(1);
    await feed.close();
    await stage.close();
  });

  test("a group goes on over what was erased at the end", async () => {
    const host = machine({ seed: 1 });
    const stage = await open(host);
    for (const key of ["a", "b", "b"]) await stage.append(key);
    await stage.erase("b");
    const feed = referenceFeed({ source: stage.source, host });
    const group = await feed.createGroup("g");
    const [first] = await group.fetch({ member: "m" });
    await first?.ack();
    expect(await group.info()).toMatchObject({ committed: 3, delivered: 3, lag: 0 });
    await feed.close();
    await stage.close();
  });

  test("hears of what comes and can't be read, and of a hundred that gave up before", async () => {
    const stage = await open();
    const { source } = stage;
    await stage.append("a");
    for (let times = 0; times < 100; times++) {
      const stop = new AbortController();
      const stopped = source.news(1, stop.signal);
      stop.abort();
      await stopped;
    }
    const coming = source.news(1, new AbortController().signal);
    await stage.append("b");
    await stage.erase("b");
    await coming;
    await stage.close();
  });
});
