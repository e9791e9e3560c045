import * as contracts from "@ehdb/contracts";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The cells of a table's line, without their backquotes. */
function cellsOf(line: string): string[] {
  const cells = line.split("|").slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll("`", ""));
}

/** The rows of the table whose first heading is `heading`. */
function rowsOf(heading: string): string[][] {
  const lines = readme.split("\n");
  const start = lines.findIndex((line) => cellsOf(line)[0] === heading);
  if (start < 0) throw new Error(`README.md has no table headed "${heading}"`);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  return rest.slice(0, end).map(cellsOf);
}

describe("the README", () => {
  test("lists every code with its kind, in order, and no other", () => {
    const listed = rowsOf("code").map(([code, kind]) => [code, kind]);
    expect(listed).toEqual(Object.entries(contracts.errorKinds));
  });

  test("says of every code what it means and what to do", () => {
    for (const [code, , meaning, next] of rowsOf("code")) {
      expect([code, meaning]).toEqual([code, expect.stringMatching(/^[A-Z].*\.$/)]);
      expect([code, next]).toEqual([code, expect.stringMatching(/^(?:[A-Z]|verify\(\)).*\.$/)]);
    }
  });

  test("lists every kind that a code has, and no other", () => {
    const listed = rowsOf("kind").map(([kind]) => kind);
    expect(listed.toSorted()).toEqual([...new Set(Object.values(contracts.errorKinds))].sort());
  });

  test("gives the limits as they are, and all of them", () => {
    const listed = rowsOf("constant").map(([name, value]) => [name, Number.parseInt(value ?? "", 10)]);
    const limits = Object.entries(contracts).filter(([name]) => /^(?:MAX|DEFAULT)_/.test(name));
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(limits));
  });
});
