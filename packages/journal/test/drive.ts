// How these tests drive a journal: short names for what nearly each of them does.
import { EhdbError } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host, SimulatedHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import type { Journal, JournalOptions, JournalRecord } from "@ehdb/journal";

export const KIB = 1024;
export const MIB: number = 1024 * KIB;

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

export interface Stage {
  readonly host: SimulatedHost;
  readonly journal: Journal;
}

/** A journal at /j on a disk of its own. */
export async function stage(options: Partial<Omit<JournalOptions, "dir" | "host">> = {}, seed = 1): Promise<Stage> {
  const host = simulatedHost({ seed });
  return { host, journal: await openAt(host, options) };
}

export function openAt(host: Host, options: Partial<Omit<JournalOptions, "host">> = {}): Promise<Journal> {
  return openJournal({ dir: "/j", host, ...options });
}

/** What a call throws or rejects with; fails when it does neither. */
export async function refusal(call: () => unknown): Promise<EhdbError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof EhdbError) return error;
    throw error;
  }
  throw new Error("the call was expected to be refused, and went through");
}

export async function codeOf(call: () => unknown): Promise<string> {
  return (await refusal(call)).code;
}

export async function collect(records: AsyncIterable<JournalRecord>): Promise<JournalRecord[]> {
  const all: JournalRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

export async function sequencesOf(records: AsyncIterable<JournalRecord>): Promise<number[]> {
  return (await collect(records)).map((record) => record.sequence);
}

/** From `first` to `last`, both included. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);

/** Appends `count` records of `size` bytes, each durable before the next; the record with sequence n holds n's low byte. */
export async function fill(journal: Journal, count: number, size: number): Promise<void> {
  for (let i = 0; i < count; i++) await journal.appendDurable(bytes(size, journal.cursors.appended + 1));
}

/** Appends without waiting for the disk more than needed. */
export async function pour(journal: Journal, count: number, size: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await journal.ready(size);
    journal.append(bytes(size, journal.cursors.appended + 1));
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
