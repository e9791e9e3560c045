import { createHash } from "node:crypto";
import { MIB } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host, SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { BLOCK_HEADER_BYTES, statedPlace } from "../../src/part/block.ts";
import type { BlockKind } from "../../src/part/block.ts";
import { PART_FOOTER_BYTES, PART_HEADER_BYTES } from "../../src/part/part-format.ts";

export const dir = "/store";

export const datasets = [
  { name: "events", order: "by-sort" },
  { name: "state", order: "by-key" },
] as const satisfies EngineOptions["datasets"];

/** Engines of these tests merge only when they are told to. */
export async function openOn(host: SimulatedHost, options: Partial<EngineOptions> = {}): Promise<DurableEngine> {
  return await openEngine({
    dir,
    datasets,
    sealMaxBytes: MIB,
    reserveBytes: 0,
    background: false,
    host,
    ...options,
  });
}

export const keyOf = (number: number): string => `k${number % 7}`;

/** What commit `number` writes: about 400 bytes, all of it told by its number. */
export const payloadOf = (number: number): Buffer => Buffer.from(`${number}:`.padEnd(400, `${number} `));

/** Goes on until the store holds `upTo` commits. */
export async function fill(engine: DurableEngine, upTo: number): Promise<void> {
  const commits: Promise<unknown>[] = [];
  for (let number = engine.heads.accepted + 1; number <= upTo; number++) {
    commits.push(
      engine.commit((batch) => {
        batch.append("events", keyOf(number), payloadOf(number), `id-${number}`);
        if (number % 10 === 0) batch.delete("state", keyOf(number + 3));
        else batch.put("state", keyOf(number), payloadOf(number));
      }),
    );
  }
  await Promise.all(commits);
}

export interface Built {
  readonly host: SimulatedHost;
  /** Commits. */
  readonly commits: number;
  /** All that it shows. */
  readonly all: readonly string[];
}

/** A closed store: two lives, parts of several levels and datasets, edits behind a snapshot, and commits that are in no part. */
export async function built(options: Partial<EngineOptions> = {}, seed = 1): Promise<Built> {
  const host = simulatedHost({ seed });
  const first = await openOn(host, options);
  await fill(first, 300);
  await first.seal();
  await fill(first, 600);
  await first.seal();
  await first.merge();
  await first.close();
  const second = await openOn(host, options);
  await fill(second, 900);
  await second.seal();
  await fill(second, 1200);
  await second.seal();
  // In several batches of the journal.
  for (let upTo = 1220; upTo <= 1300; upTo += 20) await fill(second, upTo);
  const all = await contents(second);
  await second.close();
  return { host, commits: 1300, all };
}

const digest = (payload: Uint8Array): string => createHash("sha256").update(payload).digest("base64").slice(0, 16);

/** All that reads give, as text. */
export async function contents(engine: DurableEngine, log = "events", map = "state"): Promise<string[]> {
  const all: string[] = [];
  for await (const records of engine.log(log).scan()) {
    for (const { sort, key, version, revision, time, id, payload } of records)
      all.push(`${sort} ${key}@${version} r${revision} t${time} ${id} ${digest(payload)}`);
  }
  for await (const values of engine.map(map).scan()) {
    for (const { key, revision, time, payload } of values) all.push(`${key} r${revision} t${time} ${digest(payload)}`);
  }
  return all;
}

export const partFiles = async (host: SimulatedHost, of = dir): Promise<string[]> =>
  (await host.files.list(`${of}/parts`)).map((name) => `${of}/parts/${name}`);

export const segmentFiles = async (host: SimulatedHost, of = dir): Promise<string[]> =>
  (await host.files.list(`${of}/journal`))
    .filter((name) => name.endsWith(".segment"))
    .map((name) => `${of}/journal/${name}`);

export const manifestFiles = async (host: SimulatedHost, of = dir): Promise<string[]> =>
  (await host.files.list(of)).filter((name) => name.startsWith("manifest-")).map((name) => `${of}/${name}`);

/** Puts other bytes in place of a file. */
export async function rewrite(host: SimulatedHost, path: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const bytes = change(Buffer.from(host.content(path)));
  const file = await host.files.open(path, "write");
  await file.truncate(bytes.length);
  await file.write(bytes, 0);
  await file.dataSync();
  await file.close();
}

/** What reads would have given at a revision, of what they gave later. */
export function contentsAt(all: readonly string[], revision: number): string[] {
  const events = all.filter((text) => / r(\d+) .* id-\d+ /.test(text));
  const kept = events.filter((text) => Number(/ r(\d+) /.exec(text)?.[1]) <= revision);
  const values = new Map<string, string>();
  for (const text of kept) {
    const [, number = "", time = "", payload = ""] = / r(\d+) t(\d+) id-\d+ (\S+)$/.exec(text) ?? [];
    if (Number(number) % 10 === 0) values.delete(keyOf(Number(number) + 3));
    else values.set(keyOf(Number(number)), `${keyOf(Number(number))} r${number} t${time} ${payload}`);
  }
  return [...kept, ...[...values.values()].sort()];
}

export interface PlacedBlock {
  readonly kind: BlockKind;
  readonly offset: number;
  readonly bytes: number;
}

/** The blocks of a part that isn't damaged, from the front to the back. */
export async function blocksIn(host: SimulatedHost, path: string): Promise<PlacedBlock[]> {
  const bytes = Buffer.from(host.content(path));
  const blocks: PlacedBlock[] = [];
  for (let at = PART_HEADER_BYTES; at < bytes.length - PART_FOOTER_BYTES;) {
    const place = statedPlace(bytes.subarray(at, at + BLOCK_HEADER_BYTES), at);
    if (place === undefined) throw new Error(`there is no block at ${at} of ${path}`);
    blocks.push(place);
    at += place.bytes;
  }
  return blocks;
}

export const doorsOf = ({ files, clock, random, workers }: SimulatedHost): Host => ({ files, clock, random, workers });

/** An object with some methods replaced; the rest are called on itself. */
export function replaced<T extends object>(whole: T, methods: Partial<T>): T {
  return new Proxy(whole, {
    get: (target, name) => {
      const value: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
