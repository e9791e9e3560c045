// What a journal's files look like, and what may happen to them behind its back.
import type { SimulatedHost } from "@ehdb/host";

/** Batches of a segment begin here: behind the header's page and the first batch. */
export const firstBatch = 4096 + 120;

export const segmentPath = (id: number): string => `/j/${String(id).padStart(16, "0")}.segment`;

export async function segmentIds(host: SimulatedHost): Promise<number[]> {
  const names = await host.files.list("/j");
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

/** Replaces a part of a file on disk. */
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

/** The operations so far, as `kind name`, the random part of temporary names left out. */
export function operationsOf(host: SimulatedHost): string[] {
  return host.history.entries.map(
    ({ operation, path }) => `${operation} ${path.replaceAll("/j/", "").replaceAll(/\.[0-9a-f]{32}\.tmp/g, ".tmp")}`,
  );
}

/** Leaves so much room on the disk, and no more. */
export async function fillDisk(host: SimulatedHost, room = 0): Promise<void> {
  const whole = 2 ** 40;
  host.faults.noSpaceAfterBytes = whole;
  host.faults.noSpaceAfterBytes = whole - (await host.files.freeBytes("/")) + room;
}
