import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Commit, WriteBatch } from "@ehdb/contracts";
import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";
import type { StagedBatch } from "../src/staged-batch.ts";
import { Write } from "../src/write.ts";
import { openOn, stage } from "./drive.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** How many of the batches are still in memory. */
async function kept(batches: readonly WeakRef<WriteBatch>[]): Promise<number> {
  // What a turn of the loop has looked at lives as long as the turn.
  await turn();
  collectGarbage();
  return batches.filter((batch) => batch.deref() !== undefined).length;
}

interface Commits {
  readonly batches: readonly WeakRef<WriteBatch>[];
  readonly answers: readonly Promise<Commit>[];
}

function commits(engine: DurableEngine, count: number, key: (index: number) => string, signal: AbortSignal): Commits {
  const batches: WeakRef<WriteBatch>[] = [];
  const answers = Array.from({ length: count }, (_, index) =>
    engine.commit(
      (batch) => {
        batches.push(new WeakRef(batch));
        batch.append("events", key(index), Buffer.alloc(1000));
      },
      { signal },
    ),
  );
  return { batches, answers };
}

test("a commit that waits for the disk holds nothing of what it wrote, and no signal", async () => {
  const { host, engine } = await stage();
  const held = host.hold(["dataSync"], /journal/);
  const { signal } = new AbortController();
  const { batches, answers } = commits(engine, 100, (index) => `key ${index}`, signal);
  await host.settle();
  expect(engine.heads).toMatchObject({ accepted: 100, durable: 0 });
  expect(await kept(batches)).toBe(0);
  held.release();
  expect((await Promise.all(answers)).at(-1)).toMatchObject({ revision: 100 });
});

test("nor does one that waited for its turn, and for what it needed from parts", async () => {
  const { host, engine: first } = await stage();
  for (let index = 0; index < 20; index++)
    await first.commit((batch) => batch.append("events", `key ${index}`, Buffer.from("first")));
  await first.seal();
  await first.close();
  const engine = await openOn(host);
  const [reads, syncs] = [host.hold(["read"], /\.part$/), host.hold(["dataSync"], /journal/)];
  const { signal } = new AbortController();
  const { batches, answers } = commits(engine, 20, (index) => `key ${index}`, signal);
  await host.settle();
  expect(engine.heads).toMatchObject({ accepted: 20 });
  expect(await kept(batches)).toBe(20);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  reads.release();
  await host.settle();
  expect(engine.heads).toMatchObject({ accepted: 40, durable: 20 });
  expect(await kept(batches)).toBe(0);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  syncs.release();
  expect((await Promise.all(answers)).map(({ appended }) => appended[0]?.version)).toEqual(Array(20).fill(2));
});

test("what was loaded for it goes as well", () => {
  const write = new Write({} as StagedBatch, () => undefined);
  const { loaded } = write;
  expect(write.loaded).toBe(loaded);
  write.taken();
  expect(write.loaded).not.toBe(loaded);
});

test("a commit that was refused holds nothing while the refusal waits for the disk", async () => {
  const { host, engine } = await stage();
  const held = host.hold(["dataSync"], /journal/);
  const taken = engine.commit((batch) => batch.append("events", "a", Buffer.from("first")));
  const batches: WeakRef<WriteBatch>[] = [];
  const refused = engine.commit((batch) => {
    batches.push(new WeakRef(batch));
    batch.expect("events", "a", "none");
    batch.append("events", "a", Buffer.from("second"));
  });
  refused.catch(() => undefined);
  await host.settle();
  expect(await kept(batches)).toBe(0);
  held.release();
  await taken;
  await expect(refused).rejects.toMatchObject({ code: "CONFLICT" });
});
