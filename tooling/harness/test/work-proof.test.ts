import { describe, expect, it } from "vitest";
import { assertCount, assertWork, FullDigest, proofOf, SampledDigest, seededPayloads } from "../src/index.ts";

describe.each([
  ["full", () => new FullDigest()],
  ["sampled", () => new SampledDigest()],
])("a proof of work with a %s digest", (_, digest) => {
  const records = [...seededPayloads(1, 100), Buffer.from("short"), Buffer.alloc(0)];
  const expected = proofOf(digest(), records);
  const check = (changed: readonly Uint8Array[]) => () => assertWork("read", proofOf(digest(), changed), expected);

  it("holds for the same records", () => {
    expect(check(records)).not.toThrow();
  });

  it("fails when a record was dropped", () => {
    expect(check(records.toSpliced(50, 1))).toThrow(/101 records instead of 102/);
  });

  it("fails when one was doubled and another dropped", () => {
    expect(check(records.toSpliced(50, 1).toSpliced(10, 0, records[10] as Uint8Array))).toThrow(/digest/);
  });

  it("fails when two were swapped", () => {
    const [a, b] = [records[20] as Uint8Array, records[21] as Uint8Array];
    expect(check(records.toSpliced(20, 2, b, a))).toThrow(/digest/);
  });

  it("fails when a short record differs in its last byte", () => {
    expect(check(records.toSpliced(100, 1, Buffer.from("shorz")))).toThrow(/digest/);
  });
});

it("a count that differs is told", () => {
  expect(() => assertCount("appends", 9, 10)).toThrow("appends: 9 instead of 10");
});
