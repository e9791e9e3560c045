import type { Feed, FeedSource, LogRecord } from "@ehdb/contracts";
import { feedDatasets, feedOn, logSource, referenceFeed } from "@ehdb/feed";
import { simulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";

const machine = simulatedHost;

interface Stage {
  readonly feed: Feed<LogRecord>;
  /** What happens in the middle of the source's next read. */
  inRead: (() => Promise<unknown>) | undefined;
  /** Of each record. */
  subjectOf: (record: LogRecord) => string;
  readonly append: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A feed over a dataset whose reads can be overtaken. */
async function open(kind: "reference" | "durable"): Promise<Stage> {
  const host = machine({ seed: 1 });
  const datasets = [{ name: "jobs", order: "by-sort" } as const, ...feedDatasets];
  const engine = await openEngine({ dir: "/store", datasets, host });
  const plain = logSource(engine, "jobs");
  const source: FeedSource<LogRecord> = {
    ...plain,
    get epoch() {
      return plain.epoch;
    },
    get first() {
      return plain.first;
    },
    get last() {
      return plain.last;
    },
    subjectOf: (record) => stage.subjectOf(record),
    async *read(...call) {
      const { inRead } = stage;
      stage.inRead = undefined;
      await inRead?.();
      yield* plain.read(...call);
    },
  };
  const feed = kind === "reference" ? referenceFeed({ source, host }) : await feedOn(engine, { source, host });
  const stage: Stage = {
    feed,
    inRead: undefined,
    subjectOf: () => "a",
    append: async (count) => {
      for (let left = count; left > 0; left--)
        await engine.commit((batch) => batch.append("jobs", "key", Buffer.from("job")));
    },
    close: async () => {
      await feed.close();
      await engine.close();
    },
  };
  return stage;
}

const sequences = (messages: readonly { readonly sequence: number }[]): number[] =>
  messages.map(({ sequence }) => sequence);

describe.each(["reference", "durable"] as const)("a fetch of the %s driver that is overtaken in its read", (kind) => {
  test("by a replay: nothing is lost", async () => {
    const stage = await open(kind);
    const group = await stage.feed.createGroup("g", { leaseSeconds: 1 });
    await stage.append(3);
    const [first, second] = await group.fetch({ member: "m", limit: 2 });
    await first?.park("no");
    await second?.nack();
    stage.inRead = () => group.replay();
    const fetched = sequences(await group.fetch({ member: "m" }));
    fetched.push(...sequences(await group.fetch({ member: "m" })));
    expect(fetched.toSorted()).toEqual([1, 2, 3]);
    await stage.close();
  });

  test("by an acknowledgement: it isn't delivered again", async () => {
    const stage = await open(kind);
    const group = await stage.feed.createGroup("g", { leaseSeconds: 0.001 });
    await stage.append(2);
    const [first] = await group.fetch({ member: "m", limit: 1 });
    await stage.append(1);
    await group.pause();
    await group.resume();
    const wait = await group.fetch({ member: "n", limit: 1, leaseSeconds: 60 });
    expect(sequences(wait)).toHaveLength(1);
    stage.inRead = () => first?.ack().catch(() => undefined) ?? Promise.resolve();
    const rest = sequences(await group.fetch({ member: "n" }));
    expect([...sequences(wait), ...rest].toSorted()).toEqual(wait[0]?.sequence === 1 ? [1, 2, 3] : [2, 3]);
    await stage.close();
  });

  test("by a delete: it's said, and nobody has anything", async () => {
    const stage = await open(kind);
    const group = await stage.feed.createGroup("g");
    await stage.append(2);
    stage.inRead = () => stage.feed.deleteGroup("g", { pending: "drop" });
    await expect(group.fetch({ member: "m" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await stage.feed.groups()).toEqual([]);
    expect(sequences(await (await stage.feed.createGroup("g")).fetch({ member: "m" }))).toEqual([1, 2]);
    await stage.close();
  });

  test("by an error: nothing is lent, and nothing passed over", async () => {
    const stage = await open(kind);
    const group = await stage.feed.createGroup("g");
    await stage.append(3);
    const [first] = await group.fetch({ member: "m", limit: 1 });
    await first?.nack();
    stage.inRead = () => Promise.reject(new Error("the disk"));
    await expect(group.fetch({ member: "m" })).rejects.toThrow("the disk");
    expect((await group.info()).inFlight).toBe(0);
    expect(sequences(await group.fetch({ member: "m" }))).toEqual([1, 2, 3]);
    await stage.close();
  });

  test("by a subject that can't be told: nothing is passed over", async () => {
    const stage = await open(kind);
    const group = await stage.feed.createGroup("g", { subjects: [">"] });
    await stage.append(4);
    stage.subjectOf = ({ sort }) => {
      if (sort === 3) throw new Error("what is this?");
      return "a";
    };
    await expect(group.fetch({ member: "m" })).rejects.toThrow("what is this?");
    expect(await group.info()).toMatchObject({ inFlight: 0, delivered: 0, lag: 4 });
    stage.subjectOf = () => "a";
    expect(sequences(await group.fetch({ member: "m" }))).toEqual([1, 2, 3, 4]);
    await stage.close();
  });
});
