import { expect, it } from "vitest";
import { growthExponent } from "@ehdb/harness";
import { begunOn, dir, file, log, machine, openOn, part, seal } from "./manifest/drive.ts";
import type { Manifest } from "../src/manifest/manifest.ts";
import type { ManifestEdit, PartMeta } from "../src/meta.ts";

/** What a run of edits wrote after each of them, and what the edits' own entries took of it. */
interface Written {
  readonly bytes: number[];
  readonly entryBytes: number[];
  readonly snapshots: number;
  readonly files: number;
}

type Next = (manifest: Manifest) => ManifestEdit;

async function bytesOver(edits: number, next: Next, write: "append" | "begin" = "append"): Promise<Written> {
  const host = machine();
  const manifest = await begunOn(host);
  const begun = manifest.stats().bytesWritten;
  const [bytes, entryBytes] = [[begun], [begun]];
  for (let number = 1; number <= edits; number++) {
    const edit = next(manifest);
    await manifest[write](edit);
    bytes.push(manifest.stats().bytesWritten);
    entryBytes.push((entryBytes.at(-1) as number) + JSON.stringify(edit).length + 48);
  }
  const { snapshots } = manifest.stats();
  const files = (await host.files.list(dir)).length;
  await manifest.close();
  return { bytes, entryBytes, snapshots, files };
}

/** Eight neighbours of one level become one of the next, as soon as there are eight; else a seal. */
const sealOrMerge: Next = (manifest) => {
  const parts = [...manifest.state.parts.values()].sort((a, b) => a.firstSort - b.firstSort);
  const last = parts.slice(-8);
  const [first, level] = [last[0] as PartMeta, last.at(-1)?.level ?? 0];
  if (last.length < 8 || first.level !== level) return seal(manifest);
  const merged = part(manifest.takePartId(), first.firstSort, last.at(-1)?.lastSort);
  return {
    add: [{ ...merged, level: level + 1 }],
    remove: last.map(({ id }) => id),
    datasets: [log(merged.lastSort + 1)],
  };
};

/**
 * Snapshots come in steps, each when the bytes have tripled or so, and one row of sizes tells where it met them. The median over
 * rows that begin anywhere in such a cycle tells the shape.
 */
function exponentsOf({ bytes }: Written): { median: number; text: string } {
  const most = (bytes.length - 1) / 16;
  const from = most / 3;
  const exponents = Array.from({ length: 33 }, (_, place) => Math.floor(from * (most / from) ** (place / 32)))
    .map((start) => [1, 4, 16].map((factor) => ({ size: start * factor, cost: bytes[start * factor] as number })))
    .map((row) => growthExponent(row))
    .sort((a, b) => a - b);
  const [lowest, median, highest] = [0, 16, 32].map((place) => exponents[place] as number) as [number, number, number];
  const sizes = `${Math.floor(from)} to ${bytes.length - 1} edits`;
  return { median, text: `over ${sizes} ${median.toFixed(3)} (${lowest.toFixed(3)} to ${highest.toFixed(3)})` };
}

const timesTheEdits = ({ bytes, entryBytes }: Written): number =>
  Math.max(...bytes.map((total, number) => total / (entryBytes[number] as number)));

it("the bytes of a manifest grow with the edits, merged or not, and stay below 2.5 times theirs", async () => {
  const merging = await bytesOver(1000, sealOrMerge);
  const early = await bytesOver(1000, seal);
  const late = await bytesOver(16_000, seal);
  const control = await bytesOver(1000, seal, "begin");
  const shapes = {
    merging: exponentsOf(merging),
    early: exponentsOf(early),
    late: exponentsOf(late),
    control: exponentsOf(control),
  };
  console.log(`exponent of a manifest's bytes, with merges: ${shapes.merging.text}, ${merging.files} files`);
  console.log(
    `without, the first snapshot among them: ${shapes.early.text}; beyond it: ${shapes.late.text}, ${timesTheEdits(late).toFixed(2)} times the edits at most`,
  );
  console.log(`control, a snapshot at every edit: ${shapes.control.text}`);
  expect(shapes.merging.median).toBeLessThanOrEqual(1.05);
  expect(shapes.late.median).toBeLessThanOrEqual(1.05);
  // Within so few edits the first snapshot is seen as growth: it's a step, and the bound below holds it.
  expect(shapes.early.median).toBeLessThanOrEqual(1.1);
  expect(shapes.control.median).toBeGreaterThan(1.75);
  for (const written of [merging, early, late]) expect(timesTheEdits(written)).toBeLessThan(2.5);
  expect(timesTheEdits(control)).toBeGreaterThan(25);
}, 300_000);

it("an open reads at most five times the bytes of the last snapshot, or 64 KiB more", async () => {
  const host = machine();
  const manifest = await begunOn(host);
  for (let number = 1; number <= 1000; number++) {
    await manifest.append(seal(manifest));
    if (number % 50 !== 0) continue;
    const bytes = Buffer.from(host.content(file(manifest.id)));
    const snapshotBytes = 128 + 8 + bytes.readUInt32LE(128);
    expect(bytes.length).toBeLessThanOrEqual(snapshotBytes + Math.max(4 * snapshotBytes, 65_536));
  }
  expect((await openOn(host)).state.parts.size).toBe(1000);
});
