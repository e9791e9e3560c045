// What lies where in a segment's file, read by the format's page alone.
import type { SimulatedHost } from "@ehdb/host";
import { bytes, KIB, MIB, openAt, segmentFiles, stage } from "./drive.ts";

export interface PlacedBatch {
  readonly file: string;
  readonly offset: number;
  /** Header and body; the padding comes on top. */
  readonly bytes: number;
  readonly records: number;
  readonly first: number;
  readonly last: number;
}

const dataStart = 4096;
const headerBytes = 64;

/** Every batch of a segment, its first one included, up to the zeros or the end of the file. */
export function batchesIn(host: SimulatedHost, file: string): PlacedBatch[] {
  const data = Buffer.from(host.content(file));
  const found: PlacedBatch[] = [];
  for (
    let offset = dataStart;
    offset + headerBytes <= data.length && data.toString("latin1", offset, offset + 4) === "EHDB";
  ) {
    const size = headerBytes + data.readUInt32LE(offset + 8);
    const records = data.readUInt32LE(offset + 12);
    const first = Number(data.readBigUInt64LE(offset + 16));
    found.push({ file, offset, bytes: size, records, first, last: first + records - 1 });
    offset += Math.ceil(size / 8) * 8;
  }
  return found;
}

export async function layout(host: SimulatedHost, directory = "/j"): Promise<PlacedBatch[]> {
  return (await segmentFiles(host, directory)).flatMap((file) => batchesIn(host, file));
}

export interface Built {
  readonly host: SimulatedHost;
  readonly files: readonly string[];
  readonly last: number;
}

/** A closed journal of several segments, written over two openings, in batches of 1 to 3 records. */
export async function built(options: object = {}, seed = 1): Promise<Built> {
  const settings = { segmentBytes: MIB, reserveBytes: 0, ...options };
  const { host, journal } = await stage(settings, seed);
  let one = journal;
  for (const half of [0, 1]) {
    if (half === 1) {
      await one.close();
      one = await openAt(host, settings);
    }
    for (let i = 0; i < 18; i++) {
      const next = one.cursors.appended + 1;
      await one.appendAllDurable(Array.from({ length: 1 + (i % 3) }, (_, place) => bytes(50 * KIB, next + place)));
      await host.advance(3);
    }
  }
  const { last } = one;
  await one.close();
  return { host, files: await segmentFiles(host), last };
}
