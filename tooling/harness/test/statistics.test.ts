import { describe, expect, it } from "vitest";
import { distribution, growthExponent, median, percentile, variation } from "../src/index.ts";

describe("percentiles", () => {
  it("are samples that were met, and say how many there were", () => {
    const samples = Array.from({ length: 1000 }, (_, index) => 1000 - index);
    expect(distribution(samples)).toEqual({ n: 1000, p50: 500, p90: 900, p95: 950, p99: 990, p999: 999, max: 1000 });
  });

  it("of a single sample are that sample", () => {
    expect(distribution([7])).toEqual({ n: 1, p50: 7, p90: 7, p95: 7, p99: 7, p999: 7, max: 7 });
    expect(percentile([7], 0)).toBe(7);
  });

  it("order numbers as numbers", () => {
    expect(percentile([9, 10, 100], 0.5)).toBe(10);
  });

  it("refuse to speak of nothing", () => {
    expect(() => distribution([])).toThrow(/nothing was measured/);
    expect(() => distribution([1, Number.NaN])).toThrow(/isn't a number/);
    expect(() => percentile([1], 99)).toThrow(/from 0 to 1, not 99/);
  });

  it("have a middle and a spread", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(variation([90, 100, 120])).toBeCloseTo(0.3);
  });
});

describe("growth exponent", () => {
  const costs = (exponent: number) =>
    [1000, 4000, 16_000, 64_000].map((size) => ({ size, cost: 5 * size ** exponent }));

  it("finds the exponent of what grows by a power", () => {
    for (const exponent of [0, 0.52, 1, 1.94]) expect(growthExponent(costs(exponent))).toBeCloseTo(exponent, 10);
  });

  it("doesn't depend on the order of the sizes", () => {
    expect(growthExponent(costs(1).toReversed())).toBeCloseTo(1, 10);
  });

  it("refuses two sizes", () => {
    expect(() => growthExponent(costs(1).slice(0, 2))).toThrow(/at least 3 sizes, not 2/);
  });

  it("refuses sizes that lie too near", () => {
    const near = [1000, 2000, 16_000].map((size) => ({ size, cost: size }));
    expect(() => growthExponent(near)).toThrow(/1000 and 2000 don't/);
  });

  it("refuses a cost of nothing", () => {
    const free = [1000, 4000, 16_000].map((size) => ({ size, cost: 0 }));
    expect(() => growthExponent(free)).toThrow(/above 0/);
  });
});
