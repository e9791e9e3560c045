import type { SimulationResult } from "@ehdb/harness";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MutableCopy } from "../src/mutable-copy.ts";
import { runSeeds } from "../src/seed-run.ts";
import { loadSimulation } from "../src/tiers.ts";
import { toyRepository } from "./toy-repository.ts";

let root: string;
beforeAll(() => {
  root = toyRepository();
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

async function outcomes(seeds: readonly number[], place: string = root): Promise<[number, SimulationResult][]> {
  const met: [number, SimulationResult][] = [];
  await runSeeds({ root: place, tier: "toy", seeds }, (seed, result) => {
    met.push([seed, result]);
    return result.violations.length === 0 || seed > 100;
  });
  return met;
}

describe("running seeds in a process of their own", () => {
  it("tells each seed's result, in order", async () => {
    const met = await outcomes([1, 2, 3]);
    expect(met).toEqual([1, 2, 3].map((seed) => [seed, { violations: [], counts: { odd: seed % 2 } }]));
  });

  it("goes on after a seed that throws, ends the process, is killed or never settles", async () => {
    const met = await outcomes([1, 101, 102, 103, 104, 2]);
    expect(met.map(([seed]) => seed)).toEqual([1, 101, 102, 103, 104, 2]);
    const said = met.map(([, { violations }]) => violations[0] ?? "");
    expect(said[1]).toMatch(/thrown on purpose/);
    expect(said[2]).toMatch(/exit code 7/);
    expect(said[3]).toMatch(/SIGKILL/);
    expect(said[4]).toMatch(/promise that nothing settles/);
    expect(said[5]).toBe("");
  });

  it("refuses a tier that isn't there, and says which are", async () => {
    await expect(loadSimulation(root, "nope")).rejects.toThrow(
      /no simulation for a tier "nope"; there is one for: toy/,
    );
  });
});

describe("a planted defect", () => {
  const defect = { name: "limit one too high", file: "limit.ts", find: "= 10", replace: "= 11", seeds: 10 };

  it("is in the copy only, is found there, and is taken out again", async () => {
    const copy = new MutableCopy(root, "toy", join(root, "copy"));
    const restore = copy.plant(defect);
    const met = await outcomes([1, 2, 3, 4], copy.root);
    expect(met.at(-1)).toEqual([3, { violations: ["the limit was passed"], counts: { odd: 1 } }]);
    expect(await outcomes([3])).toMatchObject([[3, { violations: [] }]]);
    restore();
    expect(await outcomes([3], copy.root)).toMatchObject([[3, { violations: [] }]]);
    expect(readFileSync(join(root, "packages/toy/src/limit.ts"), "utf8")).toContain("= 10");
  });

  it("must have exactly one place", () => {
    const copy = new MutableCopy(root, "toy", join(root, "another-copy"));
    expect(() => copy.plant({ ...defect, find: "= 12" })).toThrow(/stands 0 times in limit.ts/);
    expect(() => copy.plant({ ...defect, find: "i" })).toThrow(/not once/);
    expect(() => copy.plant({ ...defect, file: "gone.ts" })).toThrow(/no file gone.ts/);
  });
});
