import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { bytes, codeOf, collect, fill, follow, KIB, MIB, openAt, pour, range, stage } from "./drive.ts";
import { measured } from "./measured.ts";

describe("a tail", () => {
  it("catches up, says so, and follows", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    const tail = follow(journal);
    await host.settle();
    expect(tail.seen).toEqual(range(1, 5));
    expect(tail.caughtUp).toEqual([5]);
    await fill(journal, 3, 10);
    await host.settle();
    expect(tail.seen).toEqual(range(1, 8));
    expect(tail.caughtUp.at(-1)).toBe(8);
    tail.stop();
    expect(await tail.ended).toBe("ABORTED");
    await journal.close();
  });

  it("starts where it is told, in an empty journal, too", async () => {
    const { host, journal } = await stage();
    const whole = follow(journal);
    const ahead = follow(journal, { from: 4 });
    await host.settle();
    expect([whole.caughtUp, ahead.caughtUp]).toEqual([[0], [0]]);
    await fill(journal, 6, 10);
    const { sequence, epoch } = await journal.read(2);
    const after = follow(journal, { after: { sequence, epoch } });
    await host.settle();
    expect([whole.seen, ahead.seen, after.seen]).toEqual([range(1, 6), [4, 5, 6], [3, 4, 5, 6]]);
    for (const one of [whole, ahead, after]) one.stop();
    await Promise.all([whole.ended, ahead.ended, after.ended]);
    await journal.close();
  });

  it("shows durable records only, in mode sync; in mode batch, written ones", async () => {
    const { host, journal } = await stage();
    const tail = follow(journal);
    const held = host.hold(["dataSync"]);
    await journal.ready();
    journal.append(bytes(1));
    await host.settle();
    expect(journal.cursors.written).toBe(1);
    expect(tail.seen).toEqual([]);
    journal.setDurability("batch");
    await host.settle();
    expect(tail.seen).toEqual([1]);
    held.release();
    await journal.close();
    expect(await tail.ended).toBe("CLOSED");
  });

  it("ends with CLOSED at close, waiting or delivering, and with ABORTED when its signal fired before", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    const waiting = follow(journal);
    await host.settle();
    const delivering = (async () => {
      for await (const { sequence } of journal.tail()) if (sequence === 3) await journal.close();
    })();
    expect(await codeOf(() => delivering)).toBe("CLOSED");
    expect(await waiting.ended).toBe("CLOSED");
    expect(await codeOf(() => collect(journal.tail()))).toBe("CLOSED");
    const other = await openAt(host);
    expect(await codeOf(() => collect(other.tail({ signal: AbortSignal.abort() })))).toBe("ABORTED");
    await other.close();
  });

  it("ends when its reader stops reading", async () => {
    const { host, journal } = await stage();
    await fill(journal, 3, 10);
    const door = measured(host);
    await journal.close();
    const again = await openAt(door.host);
    const before = door.open;
    for await (const { sequence } of again.tail()) if (sequence === 2) break;
    expect(door.open).toBe(before);
    await again.close();
  });

  it("misses nothing and doubles nothing over many rolls, beside a second one", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    const first = follow(journal);
    await pour(journal, 30, 60 * KIB);
    const second = follow(journal);
    await pour(journal, 60, 40 * KIB);
    await host.settle();
    expect(journal.stats().rolls).toBeGreaterThan(3);
    expect(first.seen).toEqual(range(1, 90));
    expect(second.seen).toEqual(range(1, 90));
    await journal.close();
  });

  it("goes on over dropBefore behind it, and is COMPACTED when what it needs next is dropped", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    const fast = follow(journal);
    const slow = journal.tail().batches()[Symbol.asyncIterator]();
    await fill(journal, 20, 100 * KIB);
    const begun = await slow.next();
    expect(begun.done === true ? 0 : begun.value.length).toBeGreaterThan(0);
    await host.settle();
    const report = await journal.dropBefore(19);
    expect(report.segmentsRemoved).toBeGreaterThan(0);
    await fill(journal, 5, 100 * KIB);
    await host.settle();
    expect(fast.seen).toEqual(range(1, 25));
    const drained = async (): Promise<void> => {
      for (;;) if ((await slow.next()).done === true) return;
    };
    expect(await codeOf(drained)).toBe("COMPACTED");
    await journal.close();
  });

  it("goes on over a poisoning and a reopen without gap or double", async () => {
    const { host, journal } = await stage();
    await fill(journal, 4, 10);
    const tail = follow(journal);
    await host.settle();
    host.failNext("dataSync");
    expect(await codeOf(() => journal.appendDurable(bytes(1)))).toBe("OUTCOME_UNKNOWN");
    await host.settle();
    expect(tail.seen).toEqual(range(1, 4));
    await journal.reopen();
    await fill(journal, 3, 10);
    await host.settle();
    expect(tail.seen).toEqual(range(1, journal.last));
    await journal.close();
    expect(await tail.ended).toBe("CLOSED");
  });

  it("is TRUNCATED when a reopen took back what it has delivered", async () => {
    const { host, journal } = await stage({ durability: "async" });
    await fill(journal, 2, 10);
    await host.advance(100);
    const tail = follow(journal);
    for (let i = 0; i < 3; i++) journal.append(bytes(10));
    await host.settle();
    expect(tail.seen).toEqual(range(1, 5));
    // Rot where it can't be told from a torn tail: the third record isn't stated durable yet.
    const path = `/j/${(await host.files.list("/j")).find((name) => name.endsWith(".segment"))}`;
    const place = Buffer.from(host.content(path)).lastIndexOf(Buffer.alloc(10, 7));
    host.flipBit(path, place, 0);
    host.failNext("dataSync");
    expect(await codeOf(() => journal.flush())).toBe("OUTCOME_UNKNOWN");
    const report = await journal.reopen();
    expect(report.last).toBeLessThan(5);
    await host.settle();
    expect(await tail.ended).toBe("TRUNCATED");
    await journal.close();
  });

  it("that isn't read further reads no further, however much is written", async () => {
    const { host, journal: made } = await stage({ segmentBytes: MIB });
    await made.close();
    const door = measured(host);
    const journal = await openAt(door.host, { segmentBytes: 4 * MIB, durability: "async" });
    await pour(journal, 20, 100 * KIB);
    const slow = journal.tail().batches()[Symbol.asyncIterator]();
    await slow.next();
    await host.settle();
    const before = door.bytesRead;
    await pour(journal, 100, 100 * KIB);
    await host.settle();
    expect(door.bytesRead - before).toBe(0);
    for (let i = 0; i < 5; i++) {
      const sofar = door.bytesRead;
      await slow.next();
      // A chunk and a batch at most.
      expect(door.bytesRead - sofar).toBeLessThanOrEqual(2 * 512 * KIB);
    }
    await slow.return?.();
    await journal.close();
  });
});

it("a tail whose onCaughtUp throws ends with what it threw", async () => {
  const { journal } = await stage();
  await fill(journal, 1, 10);
  const mine = new TypeError("mine");
  const tailing = collect(
    journal.tail({
      onCaughtUp: () => {
        throw mine;
      },
    }),
  );
  const thrown = await tailing.catch((error: unknown) => error);
  await journal.close();
  expect(thrown).toBe(mine);
  expect(journal.stats().readErrors).toBe(0);
});

it("a hundred tails and waits share one listener of their signal, and leave none behind", async () => {
  const { host, journal } = await stage();
  const stop = new AbortController();
  const { signal } = stop;
  const held = host.hold(["dataSync"]);
  const tails = range(1, 100).map(() => codeOf(() => collect(journal.tail({ signal }))));
  await host.settle();
  journal.append(bytes(1));
  const flushes = range(1, 20).map(() => codeOf(() => journal.flush({ signal })));
  await host.settle();
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  stop.abort();
  expect(new Set(await Promise.all([...tails, ...flushes]))).toEqual(new Set(["ABORTED"]));
  held.release();
  const other = new AbortController();
  await Promise.all(range(1, 20).map(() => journal.flush({ signal: other.signal })));
  expect(getEventListeners(other.signal, "abort")).toHaveLength(0);
  await journal.close();
});
