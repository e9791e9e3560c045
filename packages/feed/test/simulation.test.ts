import { describe, expect, it } from "vitest";
import { run, simulation } from "../simulation/index.ts";

describe("the simulation", () => {
  it("finds nothing wrong in its first seeds", async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const { violations } = await simulation.run(seed);
      expect(violations, `seed ${seed}`).toEqual([]);
    }
  });

  it("does the same for the same seed, to the last byte on disk", async () => {
    const digests = new Set<string>();
    for (const seed of [1, 7, 42, 1234, 2648]) {
      const [once, again] = [await run(seed), await run(seed)];
      expect(again).toEqual(once);
      digests.add(once.digest);
    }
    expect(digests.size).toBe(5);
  });
});
