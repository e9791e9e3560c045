import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Journal } from "@ehdb/journal";
import { bytes, codeOf, KIB, MIB, pour, range, refusal, sequencesOf, stage } from "./drive.ts";
import type { Stage } from "./drive.ts";

/** A journal with far more space made ahead than may be in flight. */
async function roomy(maxInFlightBytes = MIB, seed = 1): Promise<Stage> {
  const made = await stage({ maxInFlightBytes, reserveBytes: 0 }, seed);
  await pour(made.journal, 80, 60 * KIB);
  await made.host.settle();
  return made;
}

/** Appends until there is no room; the sequences that were given out. */
function stuff(journal: Journal, size: number): number[] {
  const given: number[] = [];
  for (;;) {
    try {
      given.push(journal.append(bytes(size)));
    } catch {
      return given;
    }
  }
}

/** A sync under way that doesn't end, and behind it as much as may wait. */
async function clogged(): Promise<Stage & { readonly release: () => void; readonly last: number }> {
  const { host, journal } = await roomy();
  const held = host.hold(["dataSync"]);
  journal.append(bytes(1));
  await host.settle();
  stuff(journal, 10 * KIB);
  const last = stuff(journal, 100).at(-1) ?? 0;
  return { host, journal, last, release: () => held.release() };
}

describe("QUEUE_FULL", () => {
  it("comes at maxInFlightBytes, mints nothing, and loses nothing", async () => {
    const { host, journal } = await roomy();
    const before = journal.cursors.appended;
    const held = host.hold(["dataSync"]);
    const given = stuff(journal, 10 * KIB);
    expect(given).toEqual(range(before + 1, before + given.length));
    expect(given.length).toBeGreaterThan(95);
    expect(given.length).toBeLessThanOrEqual(102);
    const error = await refusal(() => journal.append(bytes(10 * KIB)));
    expect(error).toMatchObject({ code: "QUEUE_FULL", kind: "retry", data: { maxInFlightBytes: MIB } });
    expect(await codeOf(() => journal.appendAll([bytes(5 * KIB), bytes(5 * KIB)]))).toBe("QUEUE_FULL");
    expect(journal.cursors.appended).toBe(given.at(-1));
    expect(journal.stats().queueFull).toBeGreaterThanOrEqual(2);
    held.release();
    await journal.ready(10 * KIB);
    expect(journal.append(bytes(10 * KIB))).toBe((given.at(-1) ?? 0) + 1);
    await journal.flush();
    expect(await sequencesOf(journal.scan({ from: before + 1 }))).toEqual(range(before + 1, before + given.length + 1));
    await journal.close();
  });

  it("says what is short: memory in flight, space on disk, or a place in the line", async () => {
    const { host, journal } = await roomy();
    const held = host.hold(["dataSync"]);
    stuff(journal, 10 * KIB);
    const inFlight = await refusal(() => journal.append(bytes(10 * KIB)));
    expect(inFlight).toMatchObject({ code: "QUEUE_FULL", data: { cause: "in-flight", maxInFlightBytes: MIB } });
    expect(inFlight.message).toContain("maxInFlightBytes");
    held.release();
    await journal.flush();
    const first = journal.ready(100);
    const second = journal.ready(100);
    await first;
    const line = await refusal(() => journal.append(bytes(200)));
    expect(line).toMatchObject({ code: "QUEUE_FULL", data: { cause: "line" } });
    expect(line.message).toContain("in line");
    await second;
    await journal.close();

    const fresh = await stage({ reserveBytes: 0 });
    const space = await refusal(() => fresh.journal.append(bytes(8 * MIB)));
    expect(space).toMatchObject({ code: "QUEUE_FULL", data: { cause: "space", inFlightBytes: 0 } });
    expect(space.message).toContain("still being made");
    await fresh.journal.close();
  });

  it("never lets more wait in memory than allowed, but for one write that is larger alone", async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 300 * KIB }), { minLength: 5, maxLength: 30 });
    const property = fc.asyncProperty(sizes, fc.nat(500), async (given, seed) => {
      const { host, journal } = await roomy(MIB, seed);
      for (const size of given) {
        try {
          journal.append(bytes(size));
        } catch {
          await host.clock.yield();
        }
        expect(journal.stats().inFlightBytes).toBeLessThanOrEqual(MIB);
      }
      await journal.appendDurable(bytes(3 * MIB));
      expect(journal.stats().inFlightBytes).toBe(0);
      await journal.close();
    });
    await fc.assert(property, { numRuns: 8 });
  });
});

describe("ready", () => {
  it("is first come, first served: small waits don't pass a large one", async () => {
    const { journal, release } = await clogged();
    const order: string[] = [];
    const large = journal.ready(900 * KIB).then(() => order.push(`large:${journal.append(bytes(900 * KIB))}`));
    const small = range(1, 20).map((place) =>
      journal.ready(1).then(() => order.push(`${place}:${journal.append(bytes(1))}`)),
    );
    // Some room is there soon, and not enough for the large one.
    expect(await codeOf(() => journal.append(bytes(1)))).toBe("QUEUE_FULL");
    const next = journal.cursors.appended + 1;
    release();
    await Promise.all([large, ...small]);
    expect(order).toEqual([`large:${next}`, ...range(1, 20).map((place) => `${place}:${next + place}`)]);
    await journal.close();
  });

  it("a burst of waiters isn't overtaken by callers who don't wait", async () => {
    const { host, journal, release } = await clogged();
    let waiting = 300;
    const waiters = range(1, waiting).map(async () => {
      await journal.ready(30 * KIB);
      waiting--;
      journal.append(bytes(30 * KIB));
    });
    let overtaken = 0;
    let refused = 0;
    const push = (): void => {
      if (waiting === 0) return;
      for (let i = 0; i < 3; i++) {
        try {
          journal.append(bytes(20 * KIB));
          if (waiting > 0) overtaken++;
        } catch {
          refused++;
        }
      }
      host.clock.defer(push);
    };
    push();
    release();
    await Promise.all(waiters);
    expect({ overtaken, refused: refused > 20 }).toEqual({ overtaken: 0, refused: true });
    await journal.close();
  });

  it("gives the one it wakes as many bytes as it asked for, in several appends, while others wait", async () => {
    const { journal, release } = await clogged();
    const failures: unknown[] = [];
    const waiters = range(1, 30).map(async () => {
      await journal.ready(64 * KIB);
      try {
        for (let i = 0; i < 8; i++) journal.append(bytes(8 * KIB - 2));
      } catch (error) {
        failures.push(error);
      }
    });
    release();
    await Promise.all(waiters);
    expect(failures).toEqual([]);
    await journal.close();
  });

  it("promises room for the lengths of many records, too, up to the largest write", async () => {
    for (const size of [64, 100, 128, 16 * KIB]) {
      for (const total of [64 * KIB, 16 * MIB]) {
        const { journal } = await stage({ reserveBytes: 0 });
        const records = Array.from({ length: Math.floor(total / size) }, () => bytes(size));
        const first = journal.ready(total);
        const second = journal.ready(1);
        await first;
        expect(journal.appendAll(records)).toEqual({ first: 1, last: records.length });
        await second;
        await journal.close();
      }
    }
  });

  it("ends with READY_TIMEOUT when its time is up, and the one behind is served", async () => {
    const { host, journal, release } = await clogged();
    const late = refusal(() => journal.ready(900 * KIB, { timeoutMillis: 100 }));
    let settled = false;
    void late.then(() => (settled = true));
    await host.advance(99);
    expect(settled).toBe(false);
    await host.advance(1);
    expect(await late).toMatchObject({ code: "READY_TIMEOUT", kind: "retry", data: { timeoutMillis: 100 } });
    const patient = journal.ready(10, { timeoutMillis: 100 });
    release();
    await patient;
    expect(journal.append(bytes(10))).toBe(journal.cursors.appended);
    await host.advance(1000);
    await journal.close();
  });

  it("ends with ABORTED by its signal, and the one behind is served", async () => {
    const { journal, release } = await clogged();
    const abort = new AbortController();
    const first = refusal(() => journal.ready(MIB - KIB, { signal: abort.signal }));
    const second = journal.ready(10);
    abort.abort("enough");
    expect(await first).toMatchObject({ code: "ABORTED", cause: "enough" });
    expect(await codeOf(() => journal.ready(10, { signal: abort.signal }))).toBe("ABORTED");
    release();
    await second;
    await journal.close();
  });

  it.each([-1, Number.NaN, Infinity, 2 ** 31, "5"])("refuses a timeout of %s", async (timeoutMillis) => {
    const { journal } = await stage({ reserveBytes: 0 });
    const waiting = { timeoutMillis: timeoutMillis as number };
    expect(await codeOf(() => journal.ready(1, waiting))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.flush(waiting))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.close(waiting))).toBe("INVALID_ARGUMENT");
    expect(journal.state).toBe("open");
    await journal.close();
  });

  it("ends with CLOSED when the journal is closed, and with POISONED when the disk fails", async () => {
    for (const how of ["CLOSED", "POISONED"]) {
      const { host, journal, release } = await clogged();
      const waiters = [
        () => journal.ready(900 * KIB),
        () => journal.ready(1),
        () => journal.appendDurable(bytes(900 * KIB)),
      ].map((wait) => codeOf(wait));
      const closing = how === "CLOSED" ? journal.close() : undefined;
      if (closing === undefined) host.failNext("dataSync");
      release();
      expect(await Promise.all(waiters)).toEqual([how, how, how]);
      await closing;
      await journal.close();
    }
  });
});

describe("appendDurable", () => {
  it("waits for room instead of failing, and keeps its place", async () => {
    const { host, journal, release, last } = await clogged();
    const waits = range(1, 40).map((place) =>
      place % 2 === 0
        ? journal.appendDurable(bytes(200 * KIB))
        : journal.appendAllDurable([bytes(5 * KIB)]).then(({ last }) => last),
    );
    await host.settle();
    expect(journal.cursors.appended).toBe(last);
    release();
    expect(await Promise.all(waits)).toEqual(range(last + 1, last + 40));
    await journal.close();
  });

  it("gives up waiting by its signal, and mints nothing", async () => {
    const { journal, release, last } = await clogged();
    const abort = new AbortController();
    const options = { signal: abort.signal };
    const waits = [
      () => journal.appendDurable(bytes(200 * KIB), options),
      () => journal.appendAllDurable([bytes(1)], options),
    ].map((wait) => codeOf(wait));
    abort.abort();
    expect(await Promise.all(waits)).toEqual(["ABORTED", "ABORTED"]);
    release();
    expect(await codeOf(() => journal.appendDurable(bytes(1), options))).toBe("ABORTED");
    expect(await codeOf(() => journal.appendAllDurable([bytes(1)], options))).toBe("ABORTED");
    expect(journal.cursors.appended).toBe(last);
    await journal.close();
  });

  it("can't be called back by its signal once it has its sequence", async () => {
    const { host, journal } = await roomy();
    const held = host.hold(["dataSync"]);
    const abort = new AbortController();
    const wait = journal.appendDurable(bytes(100), { signal: abort.signal });
    await host.settle();
    abort.abort();
    held.release();
    expect(await wait).toBe(journal.cursors.durable);
    await journal.close();
  });
});

describe("flush", () => {
  it("ends with FLUSH_TIMEOUT while the disk doesn't answer, and the sync goes on", async () => {
    const { host, journal } = await stage({ durability: "async" });
    const held = host.hold(["dataSync"]);
    await journal.ready();
    journal.append(bytes(100));
    const flush = refusal(() => journal.flush({ timeoutMillis: 50 }));
    await host.advance(50);
    expect(await flush).toMatchObject({ code: "FLUSH_TIMEOUT", data: { timeoutMillis: 50 } });
    const abort = new AbortController();
    const aborted = codeOf(() => journal.flush({ signal: abort.signal }));
    abort.abort();
    expect(await aborted).toBe("ABORTED");
    expect(journal.cursors.durable).toBe(0);
    held.release();
    await host.settle();
    expect(journal.cursors.durable).toBe(1);
    expect(await journal.flush({ timeoutMillis: 50 })).toBe(1);
    await journal.close();
  });
});
