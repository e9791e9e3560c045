import { expect, it } from "vitest";
import { nearestName } from "../src/index.ts";

it("finds the name that was meant over missing, doubled, changed and swapped letters, whatever their case", () => {
  const known = ["durability", "segmentBytes", "host", "dir"];
  for (const word of ["durabilty", "durabillity", "durebility", "Durability"])
    expect(nearestName(word, known)).toBe(known[0]);
  expect(nearestName("SEGMENTBYTE", known)).toBe("segmentBytes");
  expect(nearestName("hots", known)).toBe("host");
  expect(nearestName("dri", known)).toBe("dir");
});

it("takes the nearest of several that are near", () => {
  expect(nearestName("maxRecord", ["maxBytes", "maxRecords"])).toBe("maxRecords");
});

it("suggests nothing for a word that is far from every name, or has no letter of a short one", () => {
  expect(nearestName("completelyDifferent", ["dir", "host"])).toBeUndefined();
  expect(nearestName("xy", ["to", "dir"])).toBeUndefined();
  expect(nearestName("dir", [])).toBeUndefined();
});
