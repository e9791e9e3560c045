import { describe, expect, it } from "vitest";
import { KIB } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { OperationKind, SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";

/** Where order matters: what makes things durable, and what changes a directory. */
const turningPoints = [
  "dataSync",
  "syncDirectory",
  "create",
  "rename",
  "remove",
  "makeDirectory",
  "truncate",
] as const satisfies OperationKind[];
const full = process.env["EHDB_SWEEP"] === "full";
/** Crashes in each recovery, each time at another place, when `EHDB_SWEEP=full` doesn't ask for all. */
const nestedPoints = full ? Infinity : 1;

interface Point {
  readonly operation: OperationKind;
  readonly nth: number;
  readonly when: "before" | "after";
}

/** What was promised by the time of the crash. */
interface Promised {
  acknowledged: number;
  asked: number;
}

function open(host: SimulatedHost): Promise<DurableEngine> {
  return openEngine({
    dir: "/store",
    datasets: [
      { name: "events", order: "by-sort" },
      { name: "state", order: "by-key" },
    ],
    sealMaxBytes: 64 * KIB,
    sealMaxCommits: 3,
    reserveBytes: 64 * KIB,
    manifestRetain: 1,
    host,
  });
}

const keyOf = (number: number): string => `k${number % 3}`;

async function commit(engine: DurableEngine, promised: Promised): Promise<void> {
  const number = engine.heads.accepted + 1;
  promised.asked = Math.max(promised.asked, number);
  const { revision } = await engine.commit((batch) => {
    batch.append("events", keyOf(number), Buffer.from(`${number}`), `id-${number}`);
    if (number % 4 === 0) batch.delete("state", keyOf(number));
    else batch.put("state", keyOf(number), Buffer.from(`${number}`));
  });
  promised.acknowledged = Math.max(promised.acknowledged, revision);
}

/** Two opens, seals, a sync that fails in a seal, another that poisons, a reopen, closes: all that an engine does to files. */
async function scenario(host: SimulatedHost, promised: Promised): Promise<void> {
  for (const life of [0, 1]) {
    const engine = await open(host);
    for (let i = 0; i < 7; i++) await commit(engine, promised);
    if (life === 0) {
      // The edit fails, so that the next one comes in a new manifest.
      await engine.seal();
      await commit(engine, promised);
      const edit = host.hold(["dataSync"], /manifest-/);
      const sealing = engine.seal().catch(() => undefined);
      await host.settle();
      if (host.frozen) return;
      host.faults.syncError = 1;
      edit.release();
      await sealing;
      host.faults.syncError = 0;
      await host.advance(300);
      await engine.seal();
      // What comes after a crash has this machine's faults as well.
      if (host.frozen) return;
      host.faults.syncError = 1;
      await commit(engine, promised).catch(() => undefined);
      host.faults.syncError = 0;
      await engine.reopen();
      promised.acknowledged = engine.revision;
      await commit(engine, promised);
    }
    await engine.seal();
    await commit(engine, promised);
    await engine.close();
  }
}

const nothingYet = (): Promised => ({ acknowledged: 0, asked: 0 });

/** How often the work does each of the turning points, and so where it can be crashed. */
function pointsBetween(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): Point[] {
  return turningPoints.flatMap((operation) =>
    Array.from({ length: (after[operation] ?? 0) - (before[operation] ?? 0) }, (_, i) => i + 1).flatMap((nth) =>
      (["before", "after"] as const).map((when) => ({ operation, nth, when })),
    ),
  );
}

/** Some of them, spread over all; others for another `turn`. */
function sampled(all: readonly Point[], turn: number): Point[] {
  if (all.length <= nestedPoints) return [...all];
  const step = all.length / nestedPoints;
  return Array.from({ length: nestedPoints }, (_, i) => all[Math.floor(i * step + (turn % step))] as Point);
}

/** Runs the scenario until the point is reached; what is left of the disk, and what had been promised. */
async function crashed(seed: number, point: Point): Promise<{ host: SimulatedHost; promised: Promised }> {
  const host = simulatedHost({ seed });
  const promised = nothingYet();
  host.crashAt(point);
  await Promise.race([scenario(host, promised), host.whenFrozen()]);
  return { host: host.crash(), promised };
}

/** All that is there is the first commits, as they were, and all that was acknowledged; and the engine goes on. */
async function check(host: SimulatedHost, promised: Promised, where: string): Promise<void> {
  host.faults.syncError = 0;
  const engine = await open(host);
  const { revision } = engine;
  expect(revision, where).toBeGreaterThanOrEqual(promised.acknowledged);
  expect(revision, where).toBeLessThanOrEqual(promised.asked);
  const numbers = Array.from({ length: revision }, (_, i) => i + 1);
  const events: string[] = [];
  for await (const records of engine.log("events").scan()) {
    for (const { sort, key, version, payload } of records)
      events.push(`${sort} ${key}@${version} ${Buffer.from(payload).toString()}`);
  }
  expect(events, where).toEqual(numbers.map((n) => `${n} ${keyOf(n)}@${Math.ceil(n / 3)} ${n}`));
  const state: string[] = [];
  for await (const values of engine.map("state").scan()) {
    for (const { key, payload } of values) state.push(`${key}=${Buffer.from(payload).toString()}`);
  }
  const lasts = numbers.slice(-3).filter((n) => n % 4 !== 0);
  expect(state, where).toEqual(lasts.map((n) => `${keyOf(n)}=${n}`).sort());
  await commit(engine, promised);
  expect(engine.revision, where).toBe(revision + 1);
  await engine.seal();
  expect(await engine.close(), where).toMatchObject({ state: "clean" });
}

describe("a crash at every sync and every change of a directory", () => {
  it(
    "loses nothing that was acknowledged, nor does a crash at some of those in the recovery that follows",
    async () => {
      const whole = simulatedHost({ seed: 1 });
      await scenario(whole, nothingYet());
      const outer = pointsBetween({}, whole.operations);
      expect(outer.length).toBeGreaterThan(150);
      expect(whole.statistics.failedSyncs).toBe(2);
      let crashes = 0;
      for (const [place, point] of outer.entries()) {
        const name = `${point.when} ${point.operation} ${point.nth}`;
        const seed = 1 + place;
        const { host, promised } = await crashed(seed, point);
        const before = { ...host.operations };
        await check(host, promised, name);
        crashes++;
        for (const inner of sampled(pointsBetween(before, host.operations), place)) {
          const again = await crashed(seed, point);
          again.host.crashAt(inner);
          const where = `${name}, then ${inner.when} ${inner.operation} ${inner.nth}`;
          // What it asks for before it ends is counted in any case.
          await Promise.race([check(again.host, again.promised, where), again.host.whenFrozen()]);
          await check(again.host.crash(), again.promised, where);
          crashes += 2;
        }
      }
      expect(crashes).toBeGreaterThan(outer.length);
    },
    full ? 3_600_000 : 600_000,
  );
});
