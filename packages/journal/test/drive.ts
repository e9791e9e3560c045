// How these tests drive a journal: short names for what nearly each of them does.
import { EhdbError, KIB, MIB } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host, SimulatedHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import type { Journal, JournalOptions, JournalReader, JournalRecord, TailOptions } from "@ehdb/journal";

export { KIB, MIB };

export const bytes = (count: number, fill = 7): Uint8Array => new Uint8Array(count).fill(fill);

/** Bytes that no compression makes smaller, the same for the same seed. */
export function noise(count: number, seed = 1): Uint8Array {
  const data = new Uint8Array(count);
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  for (let at = 0; at < count; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    data[at] = state;
  }
  return data;
}

/** A record that says its number, as far as there is room: its low byte first, then in words. */
export function record(number: number, size = 40): Uint8Array {
  const words = Buffer.from(`_record ${number} `.padEnd(size, ".")).subarray(0, size);
  if (size > 0) words[0] = number;
  return words;
}

export interface Stage {
  readonly host: SimulatedHost;
  readonly journal: Journal;
}

export const machine = (seed = 1): SimulatedHost => simulatedHost({ seed, keepHistory: 10_000 });

/** A journal at /j on a disk of its own. */
export async function stage(options: Partial<Omit<JournalOptions, "dir" | "host">> = {}, seed = 1): Promise<Stage> {
  const host = machine(seed);
  return { host, journal: await openAt(host, options) };
}

export function openAt(host: Host, options: Partial<Omit<JournalOptions, "host">> = {}): Promise<Journal> {
  return openJournal({ dir: "/j", host, ...options });
}

/** The same with small segments and nothing kept aside. */
export function openSmall(host: Host, options: Partial<Omit<JournalOptions, "host">> = {}): Promise<Journal> {
  return openAt(host, { segmentBytes: MIB, reserveBytes: 0, ...options });
}

/** What a call throws, or it or a promise rejects with; fails when it does neither. */
export async function refusal(work: Promise<unknown> | (() => unknown)): Promise<EhdbError> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    if (error instanceof EhdbError) return error;
    throw error;
  }
  throw new Error("it was expected to be refused, and went through");
}

export async function codeOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  return (await refusal(work)).code;
}

export async function collect(records: AsyncIterable<JournalRecord>): Promise<JournalRecord[]> {
  const all: JournalRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

export async function sequencesOf(records: AsyncIterable<JournalRecord>): Promise<number[]> {
  return (await collect(records)).map((record) => record.sequence);
}

/** The number that each record says; fails where it isn't its sequence. */
export async function numbers(records: AsyncIterable<JournalRecord>): Promise<number[]> {
  return (await collect(records)).map(({ sequence, data }) => {
    const said = Number(/^[^]record (\d+) /.exec(Buffer.from(data).toString("latin1"))?.[1]);
    if (said !== sequence) throw new Error(`sequence ${sequence} holds record ${said}`);
    return sequence;
  });
}

export const everything = (reader: JournalReader): Promise<number[]> => numbers(reader.scan());

export interface Follower {
  readonly seen: number[];
  readonly caughtUp: number[];
  stop(): void;
  /** The code that ended it; `returned` for none. */
  readonly ended: Promise<string>;
}

/** Follows a log, and keeps what it is given. */
export function follow(journal: Pick<JournalReader, "tail">, options: TailOptions = {}): Follower {
  const abort = new AbortController();
  const seen: number[] = [];
  const caughtUp: number[] = [];
  const stream = journal.tail({ signal: abort.signal, onCaughtUp: (sequence) => caughtUp.push(sequence), ...options });
  const run = async (): Promise<string> => {
    try {
      for await (const record of stream) seen.push(record.sequence);
      return "returned";
    } catch (error) {
      if (error instanceof EhdbError) return error.code;
      throw error;
    }
  };
  return { seen, caughtUp, stop: () => abort.abort(), ended: run() };
}

/** From `first` to `last`, both included. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);

/** Appends `count` records, each durable before the next. */
export async function fill(journal: Journal, count: number, size?: number): Promise<void> {
  for (let i = 0; i < count; i++) await journal.appendDurable(record(journal.cursors.appended + 1, size));
}

/** Fills so many segments. */
export async function fillSegments(journal: Journal, segments: number): Promise<void> {
  while (journal.stats().rolls < segments - 1) await fill(journal, 1, 200_000);
}

/** Appends without waiting for the disk more than needed. */
export async function pour(journal: Journal, count: number, size: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await journal.ready(size);
    journal.append(record(journal.cursors.appended + 1, size));
  }
  await journal.flush();
}

export async function names(host: Host, directory = "/j"): Promise<string[]> {
  return await host.files.list(directory);
}

export async function segmentFiles(host: Host, directory = "/j"): Promise<string[]> {
  return (await names(host, directory))
    .filter((name) => name.endsWith(".segment"))
    .map((name) => `${directory}/${name}`);
}

/** Every file of a directory with its bytes as one comparable text. */
export async function contents(host: SimulatedHost, directory = "/j"): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const name of await names(host, directory)) {
    const data = host.content(`${directory}/${name}`);
    all.set(name, Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1"));
  }
  return all;
}
