import { describe, expect, it } from "vitest";
import type { OperationKind, SimulatedHost } from "@ehdb/host";
import { everything, machine, openSmall, range, record } from "./drive.ts";

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
/** In each recovery, when `EHDB_SWEEP=full` doesn't ask for all. */
const nestedPoints = 64;
const full = process.env["EHDB_SWEEP"] === "full";
const seedOf = (outer: number, inner: number): number => 1 + outer * 1000 + inner;

interface Point {
  readonly operation: OperationKind;
  readonly nth: number;
  readonly when: "before" | "after";
}

/** What was promised by the time of the crash. */
interface Promised {
  acknowledged: number;
  low: number;
  lowAsked: number;
  asked: number;
}

/** Three segments, a mark, a drop, a close and a second open: all that a journal does to files. */
async function scenario(host: SimulatedHost, promised: Promised): Promise<void> {
  for (let life = 0; life < 2; life++) {
    const journal = await openSmall(host, { reserveBytes: 64 * 1024 });
    await append(journal.cursors.appended, life === 0 ? 12 : 3);
    await host.advance(80);
    if (life === 0) {
      promised.lowAsked = 7;
      await journal.dropBefore(7);
      promised.low = 7;
      host.faults.syncError = 1;
      promised.asked++;
      await journal.appendDurable(record(promised.asked)).catch(() => undefined);
      host.faults.syncError = 0;
      await journal.reopen();
      promised.acknowledged = journal.last;
    }
    await append(journal.last, 2);
    await journal.close();

    async function append(from: number, count: number): Promise<void> {
      for (let number = from + 1; number <= from + count; number++) {
        promised.asked = Math.max(promised.asked, number);
        await journal.appendDurable(record(number, 190_000));
        promised.acknowledged = number;
      }
    }
  }
}

const nothingYet = (): Promised => ({ acknowledged: 0, low: 1, lowAsked: 1, asked: 0 });

/** How often the work does each of the turning points, and so where it can be crashed. */
function pointsBetween(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): Point[] {
  return turningPoints.flatMap((operation) =>
    Array.from({ length: (after[operation] ?? 0) - (before[operation] ?? 0) }, (_, i) => i + 1).flatMap((nth) =>
      (["before", "after"] as const).map((when) => ({ operation, nth, when })),
    ),
  );
}

function sampled<T>(all: readonly T[], most: number): T[] {
  if (full || all.length <= most) return [...all];
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as T);
}

/** Runs the scenario until the point is reached; what is left of the disk, and what had been promised. */
async function crashed(seed: number, point: Point): Promise<{ host: SimulatedHost; promised: Promised }> {
  const host = machine(seed);
  const promised = nothingYet();
  host.crashAt(point);
  await Promise.race([scenario(host, promised), host.whenFrozen()]);
  return { host: host.crash(), promised };
}

async function check(host: SimulatedHost, promised: Promised, where: string): Promise<void> {
  host.faults.syncError = 0;
  const journal = await openSmall(host, { reserveBytes: 64 * 1024 });
  const { first, last } = journal;
  expect(last, where).toBeGreaterThanOrEqual(promised.acknowledged);
  expect(last, where).toBeLessThanOrEqual(promised.asked);
  expect(first, where).toBeGreaterThanOrEqual(promised.low);
  expect(first, where).toBeLessThanOrEqual(promised.lowAsked);
  expect(await everything(journal), where).toEqual(range(first, last));
  expect(await journal.appendDurable(record(last + 1)), where).toBe(last + 1);
  expect(await journal.close(), where).toMatchObject({ state: "clean" });
}

describe("a crash at every sync and every change of a directory", () => {
  it(
    "loses nothing that was acknowledged, nor does a crash at each of those in the recovery that follows",
    async () => {
      const whole = machine();
      await scenario(whole, nothingYet());
      const outer = pointsBetween({}, whole.operations);
      expect(outer.length).toBeGreaterThan(60);
      let crashes = 0;
      for (const [place, point] of outer.entries()) {
        const name = `${point.when} ${point.operation} ${point.nth}`;
        const { host, promised } = await crashed(seedOf(place, 0), point);
        const before = { ...host.operations };
        await check(host, promised, name);
        crashes++;
        const inner = sampled(pointsBetween(before, host.operations), nestedPoints);
        for (const [nested, innerPoint] of inner.entries()) {
          const again = await crashed(seedOf(place, 0), point);
          again.host.crashAt(innerPoint);
          await Promise.race([check(again.host, again.promised, name).catch(() => undefined), again.host.whenFrozen()]);
          again.promised.asked++;
          await check(
            again.host.crash(),
            again.promised,
            `${name}, then ${innerPoint.when} ${innerPoint.operation} ${innerPoint.nth} (${nested})`,
          );
          crashes += 2;
        }
      }
      expect(crashes).toBeGreaterThan(outer.length);
    },
    full ? 3_600_000 : 600_000,
  );
});
