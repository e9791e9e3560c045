import { join } from "node:path";
import { MIB } from "@ehdb/contracts";
import { SeededRandom } from "@ehdb/harness";
import type { Host } from "@ehdb/host";
import { openEngine, salvageStore, verifyStore } from "../src/index.ts";
import type { DurableEngine } from "../src/index.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { partName } from "../src/part/built-part.ts";
import { removeStore } from "../src/care/unfinished-store.ts";
import { meaningfulBytes } from "./meaningful-bytes.ts";
import type { Piece } from "./meaningful-bytes.ts";

export interface FlippedBits {
  readonly host: Host;
  /** An empty one. */
  readonly directory: string;
  readonly kind: Piece["kind"];
  readonly flips: number;
  readonly seed: number;
}

/**
 * Flips one bit after the other of a closed store, at random. Each time verifying finds it, names the file and an offset in what is damaged by it;
 * and a salvage brings back all that isn't in that. Throws when it's otherwise; resolves with what was seen.
 */
export async function flipBits({ host, directory, kind, flips, seed }: FlippedBits): Promise<string> {
  const dir = join(directory, "store");
  const expected = await build(host, dir);
  const { state } = await readManifest({ host, dir });
  const logs = new Set(
    [...state.parts.values()]
      .filter((meta) => state.datasets.get(meta.dataset)?.order === "by-sort")
      .map(({ id }) => join(dir, "parts", partName(id))),
  );
  const pieces = (await meaningfulBytes(host, dir, (part) => logs.has(part))).filter((piece) => piece.kind === kind);
  const random = new SeededRandom(seed);
  let lossless = 0;
  for (let i = 0; i < flips; i++) {
    const piece = pieceAt(pieces, random.integer(pieces.reduce((sum, { start, end }) => sum + end - start, 0)));
    const offset = piece.start + random.integer(piece.end - piece.start);
    const where = `seed ${seed}, flip ${i}: byte ${offset} of ${piece.file}`;
    const bit = random.integer(8);
    await flip(host, piece.file, offset, bit);
    await assertFound(host, dir, piece, where);
    const to = join(directory, "saved");
    const { lost } = await salvageStore({ dir, to, host });
    if (lost.length === 0) lossless++;
    await assertSaved(host, to, expected, piece, state.sealedThrough, where);
    await removeStore(host, to);
    await flip(host, piece.file, offset, bit);
  }
  const { ok } = await verifyStore({ dir, host });
  if (!ok) throw new Error(`seed ${seed}: the store isn't whole again`);
  return `${flips} of ${flips} found, the rest saved each time; ${lossless} without any loss (seed ${seed})`;
}

interface Contents {
  /** By position, and by key. */
  readonly events: ReadonlyMap<number, string>;
  readonly state: ReadonlyMap<string, string>;
}

function open(host: Host, dir: string): Promise<DurableEngine> {
  return openEngine({
    dir,
    datasets: [
      { name: "events", order: "by-sort" },
      { name: "state", order: "by-key" },
    ],
    sealMaxBytes: MIB,
    reserveBytes: 0,
    background: false,
    host,
  });
}

/** Two lives; parts of two levels; manifests with edits; segments with commits that are in no part. */
async function build(host: Host, dir: string): Promise<Contents> {
  // Twenty commits at a time, so that the journal has many batches.
  const fill = async (engine: DurableEngine, upTo: number): Promise<void> => {
    for (let from = engine.heads.accepted + 1; from <= upTo; from += 20) {
      const numbers = Array.from({ length: 20 }, (_, i) => from + i);
      await Promise.all(
        numbers.map((number) => {
          const payload = Buffer.from(`${number} `.repeat(40));
          return engine.commit((batch) => {
            batch.append("events", `k${number % 7}`, payload, `id-${number}`);
            batch.put("state", `key-${(number * 7) % 500}`, payload);
          });
        }),
      );
    }
  };
  const first = await open(host, dir);
  await fill(first, 300);
  await first.seal();
  await fill(first, 600);
  await first.seal();
  await first.merge();
  await first.close();
  const second = await open(host, dir);
  await fill(second, 900);
  await second.seal();
  await fill(second, 1200);
  await second.seal();
  await fill(second, 1400);
  const contents = await contentsOf(second);
  await second.close();
  return contents;
}

async function contentsOf(engine: DurableEngine): Promise<Contents> {
  const events = new Map<number, string>();
  const state = new Map<string, string>();
  for await (const records of engine.log("events").scan()) {
    for (const { sort, key, version, revision, time, id, payload } of records)
      events.set(sort, `${key}@${version} ${revision} ${time} ${id} ${Buffer.from(payload).toString()}`);
  }
  for await (const values of engine.map("state").scan()) {
    for (const { key, revision, time, payload } of values)
      state.set(key, `${revision} ${time} ${Buffer.from(payload).toString()}`);
  }
  return { events, state };
}

/** The piece that a place among all their bytes is in. */
function pieceAt(pieces: readonly Piece[], place: number): Piece {
  let before = 0;
  for (const piece of pieces) {
    before += piece.end - piece.start;
    if (place < before) return piece;
  }
  throw new Error(`there is no byte ${place}`);
}

async function flip(host: Host, path: string, offset: number, bit: number): Promise<void> {
  const file = await host.files.open(path, "write");
  try {
    const byte = Buffer.alloc(1);
    await file.read(byte, offset);
    byte[0] = (byte[0] as number) ^ (1 << bit);
    await file.write(byte, offset);
  } finally {
    await file.close();
  }
}

async function assertFound(host: Host, dir: string, piece: Piece, where: string): Promise<void> {
  const { ok, damage } = await verifyStore({ dir, host });
  const isThere = damage.some(({ file, offset }) => file === piece.file && piece.start <= offset && offset < piece.end);
  if (!ok && isThere) return;
  const told = damage.map(({ file, offset, reason }) => `${file} ${offset} ${reason}`).join("; ");
  throw new Error(`${where}: not found between ${piece.start} and ${piece.end}; told was: ${told || "nothing"}`);
}

async function assertSaved(
  host: Host,
  to: string,
  expected: Contents,
  piece: Piece,
  sealedThrough: number,
  where: string,
): Promise<void> {
  const verified = await verifyStore({ dir: to, host });
  if (!verified.ok) throw new Error(`${where}: what was saved isn't whole: ${verified.damage[0]?.reason}`);
  const engine = await open(host, to);
  const saved = await contentsOf(engine);
  await engine.close();
  // What is in parts isn't lost with the journal.
  const isLost = (text: string): boolean => {
    const [revision = 0] = (/^(?:\S+@\S+ )?(\d+)/.exec(text) ?? []).slice(1).map(Number);
    return revision > sealedThrough && piece.revisions.has(revision);
  };
  for (const [sort, text] of expected.events) {
    const there = saved.events.get(sort);
    if (there !== (piece.sorts.has(sort) || isLost(text) ? undefined : text))
      throw new Error(`${where}: position ${sort} is ${there ?? "missing"}`);
  }
  for (const [key, text] of expected.state) {
    if (piece.keys.has(key) || isLost(text)) continue;
    if (saved.state.get(key) !== text) throw new Error(`${where}: ${key} is ${saved.state.get(key) ?? "missing"}`);
  }
  if (saved.events.size > expected.events.size) throw new Error(`${where}: there is more than before`);
}
