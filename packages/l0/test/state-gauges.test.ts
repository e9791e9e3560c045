import type { SimulatedHost } from "@ehdb/host";
import { inspectStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";

async function onDisk(host: SimulatedHost): Promise<object> {
  const { disk, journal } = await inspectStore({ dir: "/store", host });
  const segments = journal.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  return { parts_bytes: disk.parts, manifest_bytes: disk.manifests, journal_bytes: segments };
}

async function write(engine: DurableEngine, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await engine.commit((batch) => {
      batch.append("events", `key ${i % 5}`, Buffer.alloc(1000));
      batch.put("state", `key ${i % 5}`, Buffer.alloc(1000));
    });
}

test("what the figures say of the disk is what is there, through seals, merges, floors, opens and old manifests", async () => {
  const options = { background: false, historyRevisions: 0, manifestRetain: 3 } as const;
  const { host, engine: first } = await stage(options);
  let engine = first;
  for (let open = 1; open <= 6; open++) {
    for (let seal = 1; seal <= 3; seal++) {
      await write(engine, 10);
      await engine.seal();
      await host.settle();
      expect(engine.stats(), `open ${open}, seal ${seal}`).toMatchObject(await onDisk(host));
    }
    await engine.merge();
    await host.settle();
    expect(engine.stats(), `open ${open}, merged`).toMatchObject(await onDisk(host));
    await engine.raiseFloor("events", open * 30);
    await engine.scavenge();
    // The journal goes on making space for a while.
    await host.settle();
    engine.refreshStateGauges();
    expect(engine.stats(), `open ${open}, erased`).toMatchObject(await onDisk(host));
    // What isn't sealed is in a segment that goes with the next seal.
    await write(engine, 3);
    await engine.close();
    engine = await openOn(host, options);
    await host.settle();
    engine.refreshStateGauges();
    expect(engine.stats(), `after open ${open}`).toMatchObject(await onDisk(host));
  }
  await engine.close();
});

test("a manifest that is full counts as it was left", async () => {
  const { host, engine } = await stage({ background: false });
  while (engine.stats().manifest_versions_retained === 0) {
    await write(engine, 1);
    await engine.seal();
  }
  expect(engine.stats()).toMatchObject(await onDisk(host));
});

test("they don't move with a commit, but with the next change of what is sealed, or when they are asked to", async () => {
  const { engine } = await stage({ background: false, sealMaxBytes: 2 ** 26 });
  const before = engine.stats().journal_bytes;
  for (let i = 0; i < 20; i++) await engine.commit((batch) => batch.append("events", "a", Buffer.alloc(2 ** 20)));
  expect(engine.stats().journal_bytes).toBe(before);
  engine.refreshStateGauges();
  expect(engine.stats().journal_bytes).toBeGreaterThan(20 * 2 ** 20);
  await engine.close();
  expect(() => engine.refreshStateGauges()).toThrow(/closed/);
});
