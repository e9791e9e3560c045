import type { Feed, FeedSource, FeedState, LogRecord } from "@ehdb/contracts";
import { logSource, openFeed, referenceFeed, statefulFeed } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";

const machine = simulatedHost;

async function store(host: Host, dir: string, count: number): Promise<DurableEngine> {
  const engine = await openEngine({ dir, datasets: [{ name: "jobs", order: "by-sort" }], host });
  for (let left = count; left > 0; left--)
    await engine.commit((batch) => batch.append("jobs", "key", Buffer.from("job")));
  return engine;
}

/** What the groups know is newer than the source that they find. */
async function reconciled(feed: Feed<LogRecord>, last: number): Promise<void> {
  const group = await feed.group("g");
  expect(await group.info()).toMatchObject({ lag: 2, inFlight: 2, parked: 1, delivered: 8 });
  for (let times = 2; times > 0; times--) {
    const data = { group: "g", sequence: 8, last };
    await expect(group.fetch({ member: "m", waitSeconds: 60 })).rejects.toMatchObject({ code: "TRUNCATED", data });
  }
  expect(await group.seek({ sequence: 9, clamp: true })).toBe(last + 1);
  expect(await group.info()).toMatchObject({ lag: 0, inFlight: 0, waiting: 0, parked: 0, committed: last });
}

async function work(feed: Feed<LogRecord>): Promise<void> {
  const group = await feed.createGroup("g");
  const messages = await group.fetch({ member: "m" });
  await messages[5]?.park("no");
  await group.ack(messages.slice(0, 5));
}

test("a group whose source is an older copy says so at each fetch, until it's moved", async () => {
  const host = machine({ seed: 1 });
  const newer = await store(host, "/newer", 8);
  const before = await openFeed({ dir: "/groups", source: logSource(newer, "jobs"), host });
  await work(before);
  await before.close();
  await newer.close();
  const older = await store(host, "/older", 3);
  const feed = await openFeed({ dir: "/groups", source: logSource(older, "jobs"), host });
  await reconciled(feed, 3);
  const group = await feed.group("g");
  await older.commit((batch) => batch.append("jobs", "key", Buffer.from("job")));
  expect((await group.fetch({ member: "m" })).map(({ sequence }) => sequence)).toEqual([4]);
  await feed.close();
  await older.close();
});

test("the reference driver says the same", async () => {
  const host = machine({ seed: 1 });
  const [newer, older] = [await store(host, "/newer", 8), await store(host, "/older", 3)];
  let source: FeedSource<LogRecord> = logSource(newer, "jobs");
  const feed = referenceFeed<LogRecord>({
    source: new Proxy({} as FeedSource<LogRecord>, { get: (_, name) => Reflect.get(source, name) as unknown }),
    host,
  });
  await work(feed);
  source = logSource(older, "jobs");
  await reconciled(feed, 3);
  await feed.close();
});

test("groups can be kept in any store of keys and values", async () => {
  const host = machine({ seed: 1 });
  const engine = await store(host, "/store", 8);
  const kept = new Map<string, Uint8Array>();
  const state: FeedState = {
    epoch: 1,
    async *load() {
      yield [...kept].map(([key, value]) => ({ key, value }));
    },
    write: async (changes) => {
      for (const { key, value } of changes) {
        if (value === undefined) kept.delete(key);
        else kept.set(key, value);
      }
    },
  };
  const source = logSource(engine, "jobs");
  const feed = await statefulFeed({ source, state, host });
  await work(feed);
  await feed.close();
  const again = await statefulFeed({ source, state, host });
  const group = await again.group("g");
  expect(await group.info()).toMatchObject({ committed: 6, inFlight: 2, parked: 1 });
  await again.deleteGroup("g", { pending: "drop" });
  expect([...kept.keys()]).toEqual([]);
  await again.close();
  await engine.close();
});
