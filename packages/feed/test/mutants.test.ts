import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutants } from "../simulation/mutants.ts";

// A run over all defects takes long, so a source that moved on would be noticed late.
test.each(mutants)("the defect that $name has one place to be planted", ({ file, find, replace }) => {
  const source = readFileSync(join(import.meta.dirname, "../src", file), "utf8");
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
