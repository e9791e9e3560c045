import { resolve } from "node:path";
import { expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import { openJournal, openJournalReader, salvage } from "@ehdb/journal";
import { bytes, codeOf, collect, fill, KIB, MIB, openAt, refusal, segmentFiles, stage } from "./drive.ts";

/** An array whose buffer was transferred away. */
function detached(): Uint8Array {
  const array = new Uint8Array(4);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

class Liar extends Uint8Array {
  override get length(): number {
    return Number.NaN;
  }
}

it("a write with one record that can't be read takes nothing in, and what follows keeps its place", async () => {
  const { journal } = await stage();
  await journal.appendDurable(bytes(1));
  for (const bad of [detached(), new Proxy(new Uint8Array(3), {}), Object.create(Uint8Array.prototype) as Uint8Array]) {
    expect(await codeOf(() => journal.appendAll([bytes(9), bad]))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.append(bad))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => journal.appendDurable(bad))).toBe("INVALID_ARGUMENT");
  }
  expect(journal.append(bytes(2))).toBe(2);
  expect(journal.append(bytes(3))).toBe(3);
  expect(await journal.flush()).toBe(3);
  expect((await collect(journal.scan())).map(({ data }) => data.length)).toEqual([1, 2, 3]);
  await journal.close();
});

it("a subclass that lies about its length is stored as the bytes it has", async () => {
  const { journal } = await stage();
  await journal.appendDurable(new Liar(5));
  expect((await journal.read(1)).data.length).toBe(5);
  await journal.close();
});

it("what is done to the caller's array and bytes while an append waits for room doesn't reach the log", async () => {
  const { host, journal } = await stage({ maxInFlightBytes: MIB });
  const before = [journal.appendDurable(bytes(900 * KIB)), journal.appendDurable(bytes(500 * KIB))];
  const mine = [new Uint8Array(100 * KIB).fill(7), new Uint8Array(200 * KIB).fill(7)];
  const waiting = journal.appendAllDurable(mine);
  for (const array of mine) array.fill(8);
  mine.length = 0;
  mine.push(new Uint8Array(600 * KIB));
  await Promise.all(before);
  const { first, last } = await waiting;
  expect(last - first).toBe(1);
  const stored = [await journal.read(first), await journal.read(last)];
  expect(stored.map(({ data }) => [data.length, data.every((byte) => byte === 7)])).toEqual([
    [100 * KIB, true],
    [200 * KIB, true],
  ]);
  expect((await journal.close()).state).toBe("clean");
  const next = await openAt(host);
  expect(next.last).toBe(last);
  await next.close();
});

it("a write of more records than a batch can hold is TOO_LARGE", async () => {
  const { journal } = await stage();
  const empty = new Uint8Array(0);
  expect(await codeOf(() => journal.appendAll(Array.from({ length: 2 ** 20 + 1 }, () => empty)))).toBe("TOO_LARGE");
  expect(journal.cursors.appended).toBe(0);
  await journal.close();
});

it("rot in the first batch of a segment behind a clean close is CORRUPT, and nothing is removed", async () => {
  const { host, journal } = await stage();
  await fill(journal, 3, 10);
  await journal.close();
  const second = await openAt(host);
  await fill(second, 3, 10);
  await second.close();
  const before = await segmentFiles(host);
  host.flipBit(before.at(-1) ?? "", 4100, 1);
  expect(await codeOf(() => openAt(host))).toBe("CORRUPT");
  expect(await codeOf(() => openJournalReader({ dir: "/j", host }))).toBe("CORRUPT");
  expect(await segmentFiles(host)).toEqual(before);
});

it("keys that are wiped or exchanged after the open still encrypt", async () => {
  const key = new Uint8Array(32).fill(5);
  const ring = { current: "a", keys: { a: key } as Record<string, Uint8Array> };
  const { host, journal } = await stage({ encryption: ring });
  key.fill(0);
  delete ring.keys["a"];
  while (journal.stats().rolls === 0) await journal.appendDurable(bytes(200 * KIB));
  const { last } = journal;
  await journal.close();
  const encryption = { current: "a", keys: { a: new Uint8Array(32).fill(5) } };
  const next = await openJournal({ dir: "/j", host, encryption });
  expect((await collect(next.scan())).length).toBe(last);
  await next.close();
});

it("a file with an id beyond all numbers isn't taken for a segment", async () => {
  const { host, journal } = await stage();
  await fill(journal, 2, 10);
  await journal.close();
  for (const name of ["9007199254740991", "9999999999999999"]) {
    await (await host.files.open(`/j/${name}.segment`, "create")).close();
  }
  for (let last = 2; last < 4; last++) {
    const next = await openAt(host);
    expect(next.last).toBe(last);
    await next.appendDurable(bytes(1));
    await next.close();
  }
});

it("a salvage that is cut off leaves no journal where the whole one was to be", async () => {
  const { host, journal } = await stage();
  await fill(journal, 50, 10 * KIB);
  await journal.close();
  host.crashAt({ operation: "dataSync", nth: 3 });
  void salvage({ dir: "/j", to: "/k", host }).catch(() => undefined);
  await host.whenFrozen();
  const next = host.crash();
  expect(await next.files.stat("/k")).toBeUndefined();
  await salvage({ dir: "/j", to: "/k", host: next });
  const whole = await openJournal({ dir: "/k", host: next });
  expect(whole.last).toBe(50);
  await whole.close();
});

it("a relative directory is meant from where the process was at the open", async () => {
  const host = simulatedHost({ seed: 1 });
  const journal = await openJournal({ dir: "rel", host, segmentBytes: MIB });
  const home = process.cwd();
  expect(journal.dir).toBe(resolve("rel"));
  process.chdir("/");
  try {
    while (journal.stats().rolls === 0) await journal.appendDurable(bytes(200 * KIB));
  } finally {
    process.chdir(home);
  }
  await journal.close();
  expect((await segmentFiles(host, resolve("rel"))).length).toBeGreaterThan(1);
});

it("a checkpoint of another log, or of an epoch that never was, is TRUNCATED and never waits in silence", async () => {
  const { host, journal } = await stage();
  await fill(journal, 2, 10);
  const reader = await openJournalReader({ dir: "/j", host });
  await host.advance(100);
  for (const log of [journal, reader]) {
    for (const after of [
      { sequence: 2, epoch: 7 },
      { sequence: 500, epoch: 7 },
    ]) {
      expect(await codeOf(() => collect(log.scan({ after })))).toBe("TRUNCATED");
      expect(await codeOf(() => log.tail({ after })[Symbol.asyncIterator]().next())).toBe("TRUNCATED");
    }
  }
  expect(await codeOf(() => collect(journal.scan({ after: { sequence: 500, epoch: 1 } })))).toBe("TRUNCATED");
  await reader.close();
  await journal.close();
});

it("unknown options of a method are refused, with the name that was meant", async () => {
  const { journal } = await stage();
  const calls: [() => unknown, string][] = [
    [() => journal.scan({ form: 2 } as object), "from"],
    [() => journal.tail({ onCaughtup: 1 } as object), "onCaughtUp"],
    [() => journal.flush({ timeoutMilis: 5 } as object), "timeoutMillis"],
    [() => journal.close({ timeoutMilis: 5 } as object), "timeoutMillis"],
  ];
  for (const [call, meant] of calls) {
    const error = await refusal(call);
    expect([error.code, error.data["suggestion"]]).toEqual(["INVALID_OPTION", meant]);
  }
  expect(await codeOf(() => journal.scan(2 as unknown as object))).toBe("INVALID_OPTION");
  expect(await codeOf(() => collect(journal.scan({ after: null } as object)))).toBe("INVALID_ARGUMENT");
  expect(journal.state).toBe("open");
  await journal.close();
});

it("return() ends a tail that waits for news", async () => {
  const { journal } = await stage();
  await fill(journal, 1, 10);
  for (const tail of [journal.tail()[Symbol.asyncIterator](), journal.tail().batches()[Symbol.asyncIterator]()]) {
    await tail.next();
    const waiting = tail.next();
    await tail.return?.();
    expect((await waiting).done).toBe(true);
  }
  await journal.close();
});
