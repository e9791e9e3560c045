import { expect, test } from "vitest";
import { examplesIn, fencedBlocks } from "../fenced-blocks.ts";

const page = (...lines: string[]): string => lines.join("\n");

test("a js block is an example, and the text block right behind it is its output", () => {
  const { examples } = examplesIn(page("# Title", "```js", "console.log(1);", "```", "", "```text", "1", "```"));
  expect(examples).toEqual([{ line: 2, program: "console.log(1);\n", output: "1\n" }]);
});

test("a text block behind a sentence is no output", () => {
  const { examples } = examplesIn(page("```js", "run();", "```", "A file then holds:", "```text", "1", "```"));
  expect(examples).toMatchObject([{ output: undefined }]);
});

test("a fragment is counted and not run; other languages are neither", () => {
  const found = examplesIn(page("```js fragment", "x", "```", "```ts", "y", "```", "```", "z", "```"));
  expect(found).toEqual({ examples: [], fragments: 1 });
});

test("a longer fence holds a shorter one", () => {
  expect(fencedBlocks(page("````md", "```js", "x", "```", "````"))).toMatchObject([
    { info: "md", text: "```js\nx\n```\n" },
  ]);
});

test("a fence that is never closed is an error", () => {
  expect(() => fencedBlocks(page("text", "```js", "x"))).toThrow("line 2");
});
