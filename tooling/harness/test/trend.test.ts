import { describe, expect, test } from "vitest";
import { rise } from "@ehdb/harness";

const line = (of: (at: number) => number): { at: number; value: number }[] =>
  Array.from({ length: 40 }, (_, at) => ({ at: at * 1000, value: of(at) }));

describe("the rise of values", () => {
  test("is what a straight line rises, and 0 for a level one", () => {
    expect(rise(line((at) => 5 + 3 * at))).toBeCloseTo(3 * 39, 6);
    expect(rise(line(() => 7))).toBe(0);
  });

  test("isn't bent by saw teeth, nor by a few values far off", () => {
    expect(Math.abs(rise(line((at) => 100 + (at % 4))))).toBeLessThan(1);
    expect(rise(line((at) => (at % 10 === 9 ? 10_000 : at)))).toBeLessThan(60);
  });

  test("of fewer than two times is refused", () => {
    expect(() => rise([{ at: 1, value: 1 }])).toThrow(/at least two times, not 1/);
  });
});
