import { simulatedHost } from "@ehdb/host";
import type { SimulatedHost } from "@ehdb/host";
import { isEhdbError } from "@ehdb/contracts";
import type { EhdbError } from "@ehdb/contracts";
import { openJournal } from "../src/index.ts";
import type { Journal, JournalOptions, JournalReader, RecordStream } from "../src/index.ts";

export const MIB: number = 1024 * 1024;
export const dir = "/journal";
/** Batches of a segment begin here: behind the header's page and the first batch. */
export const firstBatch = 4096 + 120;

export const machine = (seed = 1): SimulatedHost => simulatedHost({ seed, keepHistory: 10_000 });

export async function openOn(
  host: SimulatedHost,
  options: Omit<JournalOptions, "dir" | "host"> = {},
): Promise<Journal> {
  return await openJournal({ dir, host, segmentBytes: MIB, reserveBytes: 0, ...options });
}

/** A record that says its number, of some length. */
export function record(number: number, bytes = 40): Uint8Array {
  return Buffer.from(`record ${number} `.padEnd(bytes, "."));
}

export async function appendSome(journal: Journal, count: number, bytes = 40): Promise<void> {
  for (let i = 0; i < count; i++) await journal.appendDurable(record(journal.cursors.appended + 1, bytes));
}

/** The number that each record says, for the records that a stream gives; fails where it isn't the sequence. */
export async function numbers(stream: RecordStream): Promise<number[]> {
  const seen: number[] = [];
  for await (const { sequence, data } of stream) {
    const said = Number(/^record (\d+) /.exec(Buffer.from(data).toString("latin1"))?.[1]);
    if (said !== sequence) throw new Error(`sequence ${sequence} holds record ${said}`);
    seen.push(sequence);
  }
  return seen;
}

export const everything = async (reader: JournalReader): Promise<number[]> => await numbers(reader.scan());

export const upTo = (last: number, from = 1): number[] => Array.from({ length: last - from + 1 }, (_, i) => from + i);

export const segmentPath = (id: number): string => `${dir}/${String(id).padStart(16, "0")}.segment`;

export async function segmentIds(host: SimulatedHost): Promise<number[]> {
  const names = await host.files.list(dir);
  return names.filter((name) => name.endsWith(".segment")).map((name) => Number.parseInt(name, 10));
}

/** A file's bytes, its own copy. */
export const bytesOf = (host: SimulatedHost, path: string): Buffer => Buffer.from(host.content(path));

/** Where some bytes stand in a file. */
export function placeOf(host: SimulatedHost, path: string, data: Uint8Array): number {
  const at = bytesOf(host, path).indexOf(data);
  if (at < 0) throw new Error(`${path} doesn't hold these bytes`);
  return at;
}

/** Replaces a part of a file on disk, behind everybody's back. */
export async function overwrite(host: SimulatedHost, path: string, at: number, bytes: Uint8Array): Promise<void> {
  const file = await host.files.open(path, "write");
  await file.write(bytes, at);
  await file.dataSync();
  await file.close();
}

export async function cutFile(host: SimulatedHost, path: string, bytes: number): Promise<void> {
  const file = await host.files.open(path, "write");
  await file.truncate(bytes);
  await file.dataSync();
  await file.close();
}

/** The error that something ends with; fails when it doesn't. */
export async function errorOf(work: Promise<unknown> | (() => unknown)): Promise<EhdbError> {
  let result: unknown;
  try {
    result = await (typeof work === "function" ? work() : work);
  } catch (error) {
    if (isEhdbError(error)) return error;
    throw error;
  }
  throw new Error(`it was taken, with ${JSON.stringify(result)}`);
}

export const codeOf = async (work: Promise<unknown> | (() => unknown)): Promise<string> => (await errorOf(work)).code;

/** Fills several segments. */
export async function fillSegments(journal: Journal, segments: number): Promise<void> {
  while (journal.stats().rolls < segments - 1) await appendSome(journal, 1, 200_000);
}

/** The operations so far, as `kind name`, the random part of temporary names left out. */
export function operationsOf(host: SimulatedHost): string[] {
  return host.history.entries.map(
    ({ operation, path }) =>
      `${operation} ${path.replaceAll(`${dir}/`, "").replaceAll(/\.[0-9a-f]{32}\.tmp/g, ".tmp")}`,
  );
}

/** Leaves so much room on the disk, and no more. */
export async function fillDisk(host: SimulatedHost, room = 0): Promise<void> {
  const whole = 2 ** 40;
  host.faults.noSpaceAfterBytes = whole;
  host.faults.noSpaceAfterBytes = whole - (await host.files.freeBytes("/")) + room;
}
