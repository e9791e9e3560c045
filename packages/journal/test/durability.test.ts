import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Durability, Journal } from "@ehdb/journal";
import { bytes, codeOf, MIB, openAt, pour, range, refusal, sequencesOf, stage } from "./drive.ts";

/** An append that surely has room: these journals are small. */
const append = (journal: Journal, size = 100): number => journal.append(bytes(size));

async function ready(durability: Durability, options: object = {}): ReturnType<typeof stage> {
  const made = await stage({ durability, reserveBytes: 0, ...options });
  await made.host.settle();
  return made;
}

describe("sync", () => {
  it("appends made in one turn share one batch and one sync", async () => {
    const { host, journal } = await ready("sync");
    const before = host.operations.dataSync;
    await Promise.all(range(1, 500).map(() => journal.appendDurable(bytes(100))));
    expect(host.operations.dataSync - before).toBe(1);
    expect(journal.stats()).toMatchObject({ appends: 500, batches: 1 });
    await journal.close();
  });

  it("appends made while a sync runs share the next one", async () => {
    const { host, journal } = await ready("sync");
    const before = host.operations.dataSync;
    const held = host.hold(["dataSync"]);
    const waits = [journal.appendDurable(bytes(100))];
    await host.settle();
    for (let i = 0; i < 200; i++) {
      waits.push(journal.appendDurable(bytes(100)));
      if (i % 7 === 0) await host.settle();
    }
    held.release();
    expect(await Promise.all(waits)).toEqual(range(1, 201));
    expect(host.operations.dataSync - before).toBe(2);
    await journal.close();
  });

  it("nothing is written while a sync runs, and durable becomes what was written when it was issued", async () => {
    const { host, journal } = await ready("sync");
    const held = host.hold(["dataSync"]);
    append(journal);
    await host.settle();
    const writes = host.operations.writeAtSync;
    append(journal);
    await host.settle();
    expect(host.operations.writeAtSync).toBe(writes);
    expect(journal.cursors).toEqual({ appended: 2, written: 1, durable: 0 });
    const seen: number[] = [];
    const watching = (async () => {
      await journal.durable(1);
      seen.push(journal.cursors.durable);
    })();
    held.release();
    await watching;
    expect(seen).toEqual([1]);
    await journal.flush();
    expect(journal.cursors).toEqual({ appended: 2, written: 2, durable: 2 });
    await journal.close();
  });

  it("reads show what is durable, not what is only written", async () => {
    const { host, journal } = await ready("sync");
    await journal.appendDurable(bytes(1));
    const held = host.hold(["dataSync"]);
    append(journal);
    await host.settle();
    expect(journal.cursors.written).toBe(2);
    expect(journal.last).toBe(1);
    expect(await codeOf(() => journal.read(2))).toBe("OUT_OF_RANGE");
    expect(await sequencesOf(journal.scan())).toEqual([1]);
    held.release();
    await journal.close();
  });
});

describe("batch", () => {
  const far = { batchBytes: MIB, batchRecords: 1_000_000, batchMillis: 60_000 };

  it("syncs when batchRecords have been written", async () => {
    const { host, journal } = await ready("batch", { ...far, batchRecords: 5 });
    for (let i = 1; i <= 4; i++) {
      append(journal);
      await host.settle();
      expect(journal.cursors).toEqual({ appended: i, written: i, durable: 0 });
    }
    append(journal);
    await host.settle();
    expect(journal.cursors.durable).toBe(5);
    await journal.close();
  });

  it("syncs when batchBytes have been written", async () => {
    const { host, journal } = await ready("batch", { ...far, batchBytes: 10_000 });
    for (let i = 1; i <= 4; i++) {
      append(journal, 2_000);
      await host.settle();
      expect(journal.cursors.durable).toBe(0);
    }
    append(journal, 2_000);
    await host.settle();
    expect(journal.cursors.durable).toBe(5);
    await journal.close();
  });

  it("syncs within batchMillis after the first record that isn't synced", async () => {
    const { host, journal } = await ready("batch", { ...far, batchMillis: 40 });
    append(journal);
    await host.advance(30);
    append(journal);
    await host.advance(8);
    expect(journal.cursors).toEqual({ appended: 2, written: 2, durable: 0 });
    await host.advance(1);
    expect(journal.cursors.durable).toBe(2);
    append(journal);
    await host.advance(38);
    expect(journal.cursors.durable).toBe(2);
    await host.advance(1);
    expect(journal.cursors.durable).toBe(3);
    await journal.close();
  });

  it("the three limits count anew after each sync", async () => {
    const { host, journal } = await ready("batch", { ...far, batchRecords: 3 });
    const before = host.operations.dataSync;
    for (let i = 0; i < 12; i++) {
      append(journal);
      await host.settle();
    }
    expect(host.operations.dataSync - before).toBe(4);
    expect(journal.cursors.durable).toBe(12);
    await journal.close();
  });

  it("reads show what is written", async () => {
    const { host, journal } = await ready("batch", far);
    append(journal);
    await host.settle();
    expect(journal.cursors.durable).toBe(0);
    expect(journal.last).toBe(1);
    expect((await journal.read(1)).data.length).toBe(100);
    await journal.close();
  });

  it("flush() doesn't wait for the limits, appendDurable() does", async () => {
    const { host, journal } = await ready("batch", far);
    let done = false;
    const wait = journal.appendDurable(bytes(1)).then(() => (done = true));
    await host.advance(59_998);
    expect(done).toBe(false);
    expect(await journal.flush()).toBe(1);
    await wait;
    await journal.close();
  });
});

describe("async", () => {
  it("syncs only when somebody asks", async () => {
    const { host, journal } = await ready("async");
    const before = host.operations.dataSync;
    for (let i = 0; i < 50; i++) {
      append(journal);
      await host.advance(100);
    }
    expect(host.operations.dataSync).toBe(before);
    expect(journal.cursors).toEqual({ appended: 50, written: 50, durable: 0 });
    expect(await journal.flush()).toBe(50);
    expect(host.operations.dataSync).toBe(before + 1);
    expect(await journal.flush()).toBe(50);
    expect(host.operations.dataSync).toBe(before + 1);
    append(journal);
    await journal.durable(51);
    expect(await journal.appendDurable(bytes(1))).toBe(52);
    expect(host.operations.dataSync).toBe(before + 3);
    await journal.close();
  });
});

describe("setDurability on an open journal", () => {
  const modes: Durability[] = ["sync", "batch", "async"];
  const pairs = modes.flatMap((from) => modes.map((to) => [from, to] as const));

  it.each(pairs)("from %s to %s keeps what was promised", async (from, to) => {
    const { host, journal } = await ready(from, { batchMillis: 20 });
    const held = host.hold(["dataSync"]);
    const early = journal.appendDurable(bytes(10));
    const plain = append(journal);
    await host.settle();
    const late = journal.appendDurable(bytes(10));
    journal.setDurability(to);
    expect(journal.durability).toBe(to);
    held.release();
    await host.advance(20);
    expect(await Promise.all([early, late])).toEqual([1, 3]);
    if (to !== "async") expect(journal.cursors.durable).toBe(3);
    else expect(journal.cursors.durable).toBeGreaterThanOrEqual(plain);
    await journal.durable(plain);
    await journal.close();
  });

  it.each([
    ["async", "sync"],
    ["batch", "sync"],
  ] as const)("from %s to %s syncs at once what wasn't", async (from, to) => {
    const { host, journal } = await ready(from, { batchMillis: 60_000 });
    append(journal);
    await host.settle();
    expect(journal.cursors).toEqual({ appended: 1, written: 1, durable: 0 });
    journal.setDurability(to);
    await host.settle();
    expect(journal.cursors.durable).toBe(1);
    await journal.close();
  });

  it("from async to batch syncs what wasn't within batchMillis", async () => {
    const { host, journal } = await ready("async", { batchMillis: 30 });
    append(journal);
    await host.advance(1_000);
    journal.setDurability("batch");
    await host.advance(28);
    expect(journal.cursors.durable).toBe(0);
    await host.advance(1);
    expect(journal.cursors.durable).toBe(1);
    await journal.close();
  });

  it("what could be read stays readable when the mode becomes stricter", async () => {
    const { host, journal } = await ready("async");
    append(journal);
    await host.settle();
    expect(journal.last).toBe(1);
    const held = host.hold(["dataSync"]);
    journal.setDurability("sync");
    await host.settle();
    expect(journal.last).toBe(1);
    append(journal);
    await host.settle();
    expect(journal.last).toBe(1);
    held.release();
    await journal.flush();
    expect(journal.last).toBe(2);
    await journal.close();
  });

  it("outlives a reopen", async () => {
    const { host, journal } = await ready("sync");
    journal.setDurability("async");
    append(journal);
    host.failNext("dataSync");
    expect(await codeOf(() => journal.flush())).toBe("OUTCOME_UNKNOWN");
    await journal.reopen();
    expect(journal.durability).toBe("async");
    const before = host.operations.dataSync;
    append(journal);
    await host.advance(1_000);
    expect(host.operations.dataSync).toBe(before);
    await journal.close();
  });
});

describe("durable", () => {
  it("is OUT_OF_RANGE for a sequence not given out yet", async () => {
    const { journal } = await ready("sync");
    append(journal);
    expect(await refusal(() => journal.durable(2))).toMatchObject({
      code: "OUT_OF_RANGE",
      data: { sequence: 2, appended: 1 },
    });
    await journal.durable(1);
    await journal.durable(0);
    for (const sequence of [-1, 0.5, Number.NaN, "1", 2 ** 53]) {
      expect(await codeOf(() => journal.durable(sequence as number))).toBe("INVALID_ARGUMENT");
    }
    await journal.close();
  });

  it("waits no longer than for its own sequence", async () => {
    const { host, journal } = await ready("sync");
    const held = host.hold(["dataSync"]);
    append(journal);
    await host.settle();
    append(journal);
    const order: string[] = [];
    const waits = [2, 1].map((sequence) =>
      journal.durable(sequence).then(() => order.push(`${sequence} at ${journal.cursors.durable}`)),
    );
    held.release();
    await Promise.all(waits);
    expect(order).toEqual(["1 at 1", "2 at 2"]);
    await journal.close();
  });
});

it("durable <= written <= appended, and what was said to be durable survives a power loss that keeps nothing else", async () => {
  const mode = fc.constantFrom<Durability>("sync", "batch", "async");
  const action = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        what: fc.constantFrom("append", "appendDurable"),
        size: fc.integer({ min: 0, max: 4000 }),
      }),
    },
    fc.record({ what: fc.constantFrom("flush", "durable", "turn", "settle") }),
    fc.record({ what: fc.constant("advance"), millis: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ what: fc.constant("mode"), mode }),
  );
  const property = fc.asyncProperty(
    fc.array(action, { maxLength: 40 }),
    mode,
    fc.nat(1000),
    async (actions, first, seed) => {
      const { host, journal } = await stage({ durability: first, reserveBytes: 0 }, seed);
      let promised = 0;
      let early = 0;
      const promise = (wait: Promise<unknown>, sequence: number): void => {
        void wait.then(() => {
          if (journal.cursors.durable < sequence) early++;
          promised = Math.max(promised, sequence);
        });
      };
      for (const one of actions) {
        const next = journal.cursors.appended + 1;
        if (one.what === "append" && "size" in one) journal.append(bytes(one.size));
        else if (one.what === "appendDurable" && "size" in one) promise(journal.appendDurable(bytes(one.size)), next);
        else if (one.what === "flush") promise(journal.flush(), next - 1);
        else if (one.what === "durable") promise(journal.durable(next - 1), next - 1);
        else if (one.what === "turn") await host.clock.yield();
        else if (one.what === "settle") await host.settle();
        else if ("millis" in one) await host.advance(one.millis);
        else if ("mode" in one) journal.setDurability(one.mode);
        const { appended, written, durable } = journal.cursors;
        expect(durable <= written && written <= appended).toBe(true);
      }
      const next = await openAt(host.crash("nothing"));
      expect(next.last).toBeGreaterThanOrEqual(promised);
      expect(early).toBe(0);
      await next.close();
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

it("blocking syncs keep the same promises", async () => {
  const { host, journal } = await ready("sync", { blockingSync: true });
  expect(await Promise.all([journal.appendDurable(bytes(1)), journal.appendDurable(bytes(2))])).toEqual([1, 2]);
  host.failNext("dataSync");
  expect(await codeOf(() => journal.appendDurable(bytes(3)))).toBe("OUTCOME_UNKNOWN");
  await journal.reopen();
  await pour(journal, 5, 100);
  await journal.close();
});

describe("marks", () => {
  it("50 ms after the last write one says what is durable, without a sync of its own", async () => {
    const { host, journal } = await ready("sync");
    await journal.appendDurable(bytes(10));
    const before = { syncs: host.operations.dataSync, marks: journal.stats().marks };
    await host.advance(49);
    expect(journal.stats().marks).toBe(before.marks);
    await host.advance(1);
    expect(journal.stats().marks).toBe(before.marks + 1);
    await host.advance(10_000);
    expect(journal.stats().marks).toBe(before.marks + 1);
    expect(host.operations.dataSync).toBe(before.syncs);
    await journal.close();
  });

  it("none is written while a sync runs, however long that takes: it comes afterwards", async () => {
    const { host, journal } = await ready("sync");
    await journal.appendDurable(bytes(10));
    // The mark of that append is due in 50 ms, and this one's has to be seen synced.
    const held = host.hold(["dataSync"]);
    const dropped = journal.dropBefore(2);
    await host.settle();
    const written = host.operations.writeAtSync;
    await host.advance(1000);
    expect(host.operations.writeAtSync).toBe(written);
    held.release();
    await dropped;
    await host.advance(50);
    expect(host.operations.writeAtSync).toBe(written + 1);
    await journal.close();
  });
});
