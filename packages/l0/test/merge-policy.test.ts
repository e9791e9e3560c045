import { describe, expect, test } from "vitest";
import { defaultPolicy, mostlyErased, nextMerge } from "../src/merge-policy.ts";
import type { MergeRange } from "../src/merge-policy.ts";
import type { PartMeta } from "../src/meta.ts";

const { fanOut, maxParts } = defaultPolicy;
const recordsOfPart = 100;

function part(id: number, { level = 0, records = recordsOfPart, fileBytes = 1000 } = {}): PartMeta {
  const [firstSort, lastSort] = [(id - 1) * recordsOfPart + 1, id * recordsOfPart];
  return { id, level, records, fileBytes, firstSort, lastSort, erasures: 0 } as PartMeta;
}

const parts = (count: number, of: Parameters<typeof part>[1] = {}): PartMeta[] =>
  Array.from({ length: count }, (_, index) => part(index + 1, of));

const width = ({ from, to }: MergeRange): number => to - from + 1;

/** What is left when nothing is due any more, and how many parts each merge took. */
function converged(
  dataset: Parameters<typeof nextMerge>[0],
  begin: readonly PartMeta[],
): { readonly left: readonly PartMeta[]; readonly widths: readonly number[] } {
  let left = [...begin];
  const widths: number[] = [];
  for (let range = nextMerge(dataset, left, defaultPolicy); range; range = nextMerge(dataset, left, defaultPolicy)) {
    const inputs = left.slice(range.from, range.to + 1);
    const records = inputs
      .filter(({ lastSort }) => lastSort >= dataset.floor)
      .reduce((sum, one) => sum + one.records, 0);
    const highest = Math.max(...inputs.map(({ level }) => level));
    const merged = {
      ...(inputs[0] as PartMeta),
      lastSort: inputs.at(-1)?.lastSort ?? 0,
      records,
      fileBytes: inputs.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
      level: inputs.length === 1 ? Math.max(1, highest) : highest + 1,
    };
    left = [...left.slice(0, range.from), merged, ...left.slice(range.to + 1)];
    widths.push(width(range));
    if (widths.length > 10_000) throw new Error("it doesn't come to an end");
  }
  return { left, widths };
}

describe("what is to be merged next", () => {
  test.each(["by-sort", "by-key"] as const)(
    "of a pile of parts %s is taken some at a time, and few are left",
    (order) => {
      const { left, widths } = converged({ order, floor: 0 }, parts(700));
      expect(Math.max(...widths)).toBe(maxParts);
      expect(left.length).toBeLessThan(3 * fanOut);
    },
  );

  test("below a floor is taken some at a time, the oldest first", () => {
    const dataset = { order: "by-sort", floor: 650 * recordsOfPart + 1 } as const;
    expect(nextMerge(dataset, parts(700), defaultPolicy)).toEqual({ from: 0, to: maxParts - 1 });
    const { left, widths } = converged(dataset, parts(700));
    expect(Math.max(...widths)).toBe(maxParts);
    expect(left.reduce((sum, { records }) => sum + records, 0)).toBe(50 * recordsOfPart);
    expect(left.length).toBeLessThan(6 * fanOut);
  });

  test("of a map are all parts, when few newer ones hold more than the oldest", () => {
    const outgrown = [part(1, { level: 2, records: 150 }), part(2, { level: 1 }), part(3)];
    expect(nextMerge({ order: "by-key", floor: 0 }, outgrown, defaultPolicy)).toEqual({ from: 0, to: 2 });
  });

  test("of a pile of a map's are new ones before the oldest, which is large", () => {
    const pile = [part(1, { level: 5 }), ...parts(60).slice(1)];
    expect(nextMerge({ order: "by-key", floor: 0 }, pile, defaultPolicy)).toEqual({ from: 1, to: maxParts });
  });

  test("of a log makes no part beyond the largest there is to be", () => {
    const large = parts(8, { fileBytes: defaultPolicy.maxLogBytes / 3 });
    expect(nextMerge({ order: "by-sort", floor: 0 }, large, defaultPolicy)).toBeUndefined();
  });

  test("of a log is a part of which more than a fifth is erased", () => {
    const erased = new Map([
      [2, 20],
      [3, 21],
    ]);
    expect(mostlyErased(parts(3), erased, defaultPolicy)).toEqual({ from: 2, to: 2 });
    expect(mostlyErased(parts(2), erased, defaultPolicy)).toBeUndefined();
  });
});
