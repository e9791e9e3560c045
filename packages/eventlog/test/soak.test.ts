// Soaks of seconds. `npm run soak -- --minutes 10` is the real one, and the only one that says something about memory and the loop.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIB } from "@ehdb/contracts";
import type { SoakReport } from "@ehdb/harness";
import { describe, expect, test } from "vitest";
import { judge } from "../soak/judgement.ts";
import type { Outcome } from "../soak/judgement.ts";
import { runSoak } from "../soak/run.ts";
import type { Sample } from "../soak/samples.ts";
import { controls, fullLoad } from "../soak/settings.ts";
import type { SoakSettings } from "../soak/settings.ts";

const small: SoakSettings = {
  ...fullLoad,
  writers: 32,
  readers: 2,
  streamsOfWriter: 8,
  sealMaxBytes: 2 * MIB,
  keptBytes: 8 * MIB,
  retainMillis: 200,
  eraseOneIn: 200,
  ledgerPositions: 2 ** 17,
  leastEvents: 100_000,
};

async function soak(control?: string): Promise<SoakReport> {
  const directory = await mkdtemp(join(tmpdir(), "eventlog-soak-"));
  const planted = control === undefined ? {} : { control };
  try {
    return await runSoak({ directory, millis: 4000, progress: () => undefined, ...planted }, small);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What says something within seconds and beside other tests. */
function found({ problems }: SoakReport): string[] {
  return problems
    .filter(({ what }) => what !== "memory" && what !== "loop")
    .map(({ what, found }) => `${what}: ${found}`);
}

describe("a soak", { timeout: 180_000 }, () => {
  test("reads what was written, and ends with a store that is whole and no larger than it may be", async () => {
    const report = await soak();
    expect(found(report)).toEqual([]);
    expect(report.figures).toMatchObject({ events: expect.any(Number) as number });
    expect(report.figures["dropped"]).toBeGreaterThan(0);
  });

  test("is told that nothing is merged, by the disk and by what should have gone", async () => {
    const problems = found(await soak(controls.merges)).join();
    expect(problems).toContain("disk:");
    expect(problems).toContain("merges: 0");
  });

  test("finds an event that isn't the one that was appended", async () => {
    expect(found(await soak(controls.content)).join()).toMatch(/version \d+ of order-\d+ isn't what was appended/);
  });
});

describe("what a soak is held to", () => {
  const sample = (index: number): Sample => ({
    at: index * 1000,
    appends: 1,
    reads: 1,
    live: 100 * MIB,
    disk: 150 * MIB,
    beyondLive: -50 * MIB,
    reserve: 17 * MIB,
    memory: { heap: (40 + (index % 5)) * MIB, external: 100 * MIB, rss: 500 * MIB },
    parts: 5,
    seals: 1,
    merges: 1,
    unsealed: 0,
    loop: { p50: 1, p99: 2, max: 3 },
  });
  const outcome = (change: (sample: Sample, index: number) => Partial<Sample> = () => ({})): Outcome => ({
    samples: Array.from({ length: 100 }, (_, index) => ({ ...sample(index), ...change(sample(index), index) })),
    idleMillis: 1.1,
    loopMillis: 6,
    seals: 1,
    merges: 1,
    dropped: 1,
    erased: 1,
  });
  const broken = (of: Outcome): string[] =>
    judge(of, fullLoad)
      .filter(({ holds }) => !holds)
      .map(({ what }) => what);

  test("holds of a run whose memory goes up and down without rising", () => {
    expect(broken(outcome())).toEqual([]);
  });

  test("is broken by each kind of memory that rises, and not by one that rises in the first half only", () => {
    for (const kind of ["heap", "external", "rss"] as const) {
      const leak = outcome(({ memory }, index) => ({
        memory: { ...memory, [kind]: memory[kind] * (1 + index / 100) },
      }));
      expect(broken(leak)).toEqual(["memory"]);
    }
    const warm = outcome(({ memory }, index) => ({ memory: { ...memory, heap: Math.min(index, 45) * MIB } }));
    expect(broken(warm)).toEqual([]);
  });

  test("is broken by a reserve that is larger than stated, or isn't there", () => {
    for (const reserve of [17 * MIB + 1, 0]) expect(broken(outcome(() => ({ reserve })))).toEqual(["reserve"]);
  });

  test("is broken by one moment of a disk that is too full, and by a loop that is late", () => {
    const full = outcome((_, index) => ({ beyondLive: index === 7 ? 25 * MIB : -MIB }));
    expect(broken(full)).toEqual(["disk"]);
    expect(broken({ ...outcome(), loopMillis: 6.2 })).toEqual(["loop"]);
    expect(broken({ ...outcome(), seals: 0, erased: 0 })).toEqual(["seals", "erased"]);
  });
});
