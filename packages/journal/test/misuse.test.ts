// Arguments as a caller without types may give them: each is refused before anything is done, by an error that says what was got.
import { isEhdbError } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import type { Journal, ReadOnlyJournal } from "@ehdb/journal";
import { openJournal, openJournalReader, salvage } from "@ehdb/journal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytes, contents, fill, openAt, range, refusal, segmentFiles, sequencesOf, stage } from "./drive.ts";

const nameless = Object.create(null) as object;
const junk: readonly unknown[] = [
  null,
  5,
  "text",
  true,
  7n,
  Symbol("s"),
  [],
  {},
  nameless,
  () => undefined,
  new Date(),
  bytes(3),
];
const noOptions = junk.filter((one) => typeof one !== "object" || one === null || Array.isArray(one));
const noSignals: readonly unknown[] = [...junk, { aborted: false }, new AbortController(), new EventTarget()];
const noFunctions = junk.filter((one) => typeof one !== "function");
const noSequences = [...junk, -1, 1.5, Number.NaN, Infinity, "2", 2n, 2 ** 53];
const noTimeouts = [...junk.filter((one) => one !== 5), -1, Number.NaN, Infinity, "5", 2 ** 31];

let host: SimulatedHost;
let journal: Journal;
let reader: ReadOnlyJournal;

beforeAll(async () => {
  ({ host, journal } = await stage({ reserveBytes: 0 }));
  await fill(journal, 3, 10);
  await host.advance(100);
  reader = await openJournalReader({ dir: "/j", host });
});

afterAll(async () => {
  await reader.close();
  expect(await sequencesOf(journal.scan())).toEqual(range(1, 3));
  expect(journal.cursors).toEqual({ appended: 3, written: 3, durable: 3 });
  await journal.close();
});

/** Takes the first step of a stream. */
const begin = (stream: AsyncIterable<unknown>): Promise<unknown> => stream[Symbol.asyncIterator]().next();

async function refusesAll(values: readonly unknown[], call: (value: never) => unknown): Promise<void> {
  const before = await contents(host);
  for (const value of values) {
    const given = typeof value === "object" && value !== null ? Object.prototype.toString.call(value) : String(value);
    const error: unknown = await refusal(() => call(value as never)).catch((other: unknown) => other);
    expect(isEhdbError(error, "INVALID_ARGUMENT", "INVALID_OPTION"), `${given}: ${String(error)}`).toBe(true);
    if (!isEhdbError(error)) continue;
    expect(error.data["got"], error.message).toBeTypeOf("string");
    expect(error.message).toContain("must be");
  }
  expect(await contents(host)).toEqual(before);
}

describe("every argument of every call refuses what it isn't", () => {
  const data = bytes(1);
  const calls: Record<string, [values: readonly unknown[], call: (value: never) => unknown]> = {
    "append(record)": [junk.filter((one) => !(one instanceof Uint8Array)), (value) => journal.append(value)],
    "appendDurable(record)": [
      junk.filter((one) => !(one instanceof Uint8Array)),
      (value) => journal.appendDurable(value),
    ],
    "appendAll(records)": [junk, (value) => journal.appendAll(value)],
    "appendAll([record])": [
      junk.filter((one) => !(one instanceof Uint8Array)),
      (value) => journal.appendAll([data, value]),
    ],
    "appendAllDurable(records)": [junk, (value) => journal.appendAllDurable(value)],
    "appendDurable(, options)": [noOptions, (value) => journal.appendDurable(data, value)],
    "appendDurable(, { signal })": [noSignals, (signal) => journal.appendDurable(data, { signal })],
    "appendAllDurable(, options)": [noOptions, (value) => journal.appendAllDurable([data], value)],
    "appendAllDurable(, { signal })": [noSignals, (signal) => journal.appendAllDurable([data], { signal })],
    "durable(sequence)": [[...noSequences.filter((one) => one !== 5), undefined], (value) => journal.durable(value)],
    "flush(options)": [noOptions, (value) => journal.flush(value)],
    "flush({ signal })": [noSignals, (signal) => journal.flush({ signal })],
    "flush({ timeoutMillis })": [noTimeouts, (timeoutMillis) => journal.flush({ timeoutMillis })],
    "ready(bytes)": [noSequences.filter((one) => one !== 5 && one !== 2), (value) => journal.ready(value)],
    "ready(, options)": [noOptions, (value) => journal.ready(1, value)],
    "ready(, { signal })": [noSignals, (signal) => journal.ready(1, { signal })],
    "ready(, { timeoutMillis })": [noTimeouts, (timeoutMillis) => journal.ready(1, { timeoutMillis })],
    "setDurability(durability)": [[...junk, undefined], (value) => journal.setDurability(value)],
    "dropBefore(sequence)": [[...noSequences.filter((one) => one !== 5), 0], (value) => journal.dropBefore(value)],
    "close(options)": [noOptions, (value) => journal.close(value)],
    "close({ timeoutMillis })": [noTimeouts, (timeoutMillis) => journal.close({ timeoutMillis })],
    "openJournal(options)": [[...noOptions, undefined], (value) => openJournal(value)],
    "openJournalReader(options)": [[...noOptions, undefined], (value) => openJournalReader(value)],
    "salvage(options)": [[...noOptions, undefined], (value) => salvage(value)],
    "openJournal({ dir })": [junk.filter((one) => one !== "text"), (dir) => openJournal({ dir, host })],
    "salvage({ to })": [junk.filter((one) => one !== "text"), (to) => salvage({ dir: "/j", to, host })],
    "salvage({ onProgress })": [noFunctions, (onProgress) => salvage({ dir: "/j", to: "/k", host, onProgress })],
    "openJournal({ host })": [junk, (value) => openJournal({ dir: "/elsewhere", host: value })],
    "openJournalReader({ host })": [junk, (value) => openJournalReader({ dir: "/elsewhere", host: value })],
    "salvage({ host })": [junk, (value) => salvage({ dir: "/elsewhere", to: "/k", host: value })],
    "openJournal({ encryption })": [junk, (encryption) => openJournal({ dir: "/elsewhere", host, encryption })],
    "openJournal({ encryption: { keys } })": [
      [...junk, new Map([["a", bytes(32)]]), undefined],
      (keys) => openJournal({ dir: "/elsewhere", host, encryption: { current: "a", keys } }),
    ],
    "openJournalReader({ encryption: { keys } })": [
      [...junk.filter((one) => one !== nameless && String(one) !== "[object Object]"), undefined],
      (keys) => openJournalReader({ dir: "/j", host, encryption: { keys } }),
    ],
    "openJournal({ encryption: { current } })": [
      [...junk, undefined],
      (current) => openJournal({ dir: "/elsewhere", host, encryption: { current, keys: { a: bytes(32) } } }),
    ],
    "openJournal({ retention })": [noOptions, (retention) => openJournal({ dir: "/elsewhere", host, retention })],
  };
  it.each(Object.entries(calls))("%s", async (_, [values, call]) => await refusesAll(values, call));

  const readers: Record<string, () => Journal | ReadOnlyJournal> = { journal: () => journal, reader: () => reader };
  it.each(Object.entries(readers))("of a %s's reading side", async (_, one) => {
    const positions = noSequences.filter((value) => value !== 5);
    await refusesAll([...positions, 0, undefined], (value) => one().read(value));
    await refusesAll(noOptions, (value) => one().scan(value));
    await refusesAll([...positions, 0], (from) => one().scan({ from }));
    await refusesAll(positions, (to) => one().scan({ to }));
    await refusesAll(junk, (after) => one().scan({ after }));
    await refusesAll(positions, (sequence) => one().scan({ after: { sequence, epoch: 1 } }));
    await refusesAll(positions, (epoch) => one().scan({ after: { sequence: 1, epoch } }));
    await refusesAll(noSignals, (signal) => one().scan({ signal }));
    await refusesAll(noOptions, (value) => one().tail(value));
    await refusesAll([...positions, 0], (from) => one().tail({ from }));
    await refusesAll(junk, (after) => one().tail({ after }));
    await refusesAll(noSignals, (signal) => one().tail({ signal }));
    await refusesAll(noFunctions, (onCaughtUp) => one().tail({ onCaughtUp }));
    await refusesAll(noOptions, (value) => one().verify(value));
    await refusesAll(noSignals, (signal) => one().verify({ signal }));
    await refusesAll(noFunctions, (onProgress) => one().verify({ onProgress }));
    await expect(begin(one().scan({ signal: new AbortController().signal }))).resolves.toMatchObject({ done: false });
  });

  it("a signal of another realm does, by its form", async () => {
    const signal = { aborted: false, addEventListener: () => undefined, removeEventListener: () => undefined };
    expect(await sequencesOf(journal.scan({ signal: signal as never }))).toEqual(range(1, 3));
  });
});

describe("messages say what was got, and the way to what is wanted", () => {
  const messages: [call: () => unknown, ...parts: string[]][] = [
    [() => journal.append("text" as never), 'not "text"', "Buffer.from(text)"],
    [() => journal.append(new ArrayBuffer(8) as never), "an ArrayBuffer of 8 bytes", "new Uint8Array(buffer)"],
    [() => journal.append(new Float64Array(2) as never), "a Float64Array of 16 bytes", "byteOffset"],
    [() => journal.append({ a: 1 } as never), "an object", "JSON.stringify"],
    [() => journal.append([bytes(1)] as never), "an array of 1", "appendAll()"],
    [() => journal.appendAll(bytes(5) as never), "a Uint8Array of 5 bytes", "append()"],
    [() => journal.appendAll([]), "at least one", "an array of 0"],
    [() => journal.read("2" as never), 'not "2"', "Number("],
    [() => journal.read(2n as never), "not 2n", "Number("],
    [() => journal.read("x".repeat(500) as never), `"${"x".repeat(60)}"…`],
    [() => journal.flush({ signal: new AbortController() as never }), "an AbortController", "controller.signal"],
    [
      () => openJournal({ dir: "/k", encryption: { current: "a", keys: { a: bytes(16) } } }),
      "32 bytes, not one of 16 bytes",
    ],
    [
      () => openJournal({ dir: "/k", encryption: { current: "a", keys: { a: "0".repeat(64) as never } } }),
      "a string of 64 characters",
      '"hex"',
    ],
    [() => openJournal("./orders" as never), "an object of options (dir, ", 'not "./orders"'],
    [() => openJournal({ dir: "/k", host: {} as never }), "simulatedHost()", "files.open() is missing"],
    [() => journal.append(bytes(17 * 2 ** 20)), "Split it, or keep the bytes elsewhere"],
  ];
  it.each(messages.map(([call, ...parts]) => ({ call, parts })))("$parts", async ({ call, parts }) => {
    const { message } = await refusal(call);
    for (const part of parts) expect(message).toContain(part);
  });
});

describe("a file or a directory in the other's place", () => {
  it("a dir that is a file, or below one, is INVALID_OPTION, and nothing is made", async () => {
    const one = simulatedHost({ seed: 1 });
    await (await one.files.open("/file", "create")).close();
    await one.files.makeDirectory("/empty");
    for (const dir of ["/file", "/file/below"]) {
      const calls = {
        dir: [
          () => openAt(one, { dir }),
          () => openJournalReader({ dir, host: one }),
          () => salvage({ dir, to: "/to", host: one }),
        ],
        to: [() => salvage({ dir: "/empty", to: dir, host: one })],
      };
      for (const [option, each] of Object.entries(calls)) {
        for (const call of each) {
          const error = await refusal(call);
          expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option } });
          expect(error.message).toContain(dir);
        }
      }
    }
    expect(await one.files.list("/")).toEqual(["empty", "file"]);
  });

  it.each([1, 2, 3, 4])("a directory named like segment %i is CORRUPT, and named", async (id) => {
    const { host: one, journal: first } = await stage({ reserveBytes: 0 });
    await fill(first, 3, 10);
    await first.close();
    const second = await openAt(one, { reserveBytes: 0 });
    await fill(second, 3, 10);
    await second.close();
    const path = `/j/${String(id).padStart(16, "0")}.segment`;
    if ((await segmentFiles(one)).includes(path)) await one.files.remove(path);
    await one.files.makeDirectory(path);
    const open = [() => openAt(one), () => openJournalReader({ dir: "/j", host: one })];
    for (const call of open) {
      expect(await refusal(call)).toMatchObject({ code: "CORRUPT", data: { file: path, reason: "it is a directory" } });
    }
    const { records } = await salvage({ dir: "/j", to: "/k", host: one });
    expect(records).toBe(id > 2 ? 6 : 3);
  });
});
