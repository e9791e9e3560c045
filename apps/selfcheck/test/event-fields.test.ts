import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { streamAndType } from "../src/event-fields.ts";
import { inDirectory, runProgram } from "./program.ts";

const event = {
  type: "placed",
  order: { id: 7, name: "blue" },
  "order.name": "red",
  none: null,
  empty: "",
  long: "ü".repeat(513),
};

test("without fields all events are of one stream, and of their own type where they have one", () => {
  expect(streamAndType(event, {})).toEqual({ stream: "input", type: "placed" });
  expect(streamAndType({ type: 7 }, {})).toEqual({ stream: "input", type: "event" });
  expect(streamAndType({ type: "" }, {})).toEqual({ stream: "input", type: "event" });
});

test("a field is a property, or a path with dots; a property of just that name comes first", () => {
  expect(streamAndType(event, { streamField: "order.id", typeField: "order.name" })).toEqual({
    stream: "7",
    type: "red",
  });
  expect(streamAndType({ a: { b: { c: "x" } } }, { streamField: "a.b.c" })).toMatchObject({ stream: "x" });
});

test.each([
  ["missing", "it has no field missing"],
  ["order.missing", "it has no field order.missing"],
  ["type.length", "it has no field type.length"],
  ["toString", "it has no field toString"],
  ["none", "its field none is null, and a name is a text or a number"],
  ["order", "its field order is an object, and a name is a text or a number"],
  ["empty", "its field empty is empty"],
  ["long", "its field long has 1026 bytes, and a name has at most 1024"],
])("field %s is refused: %s", (streamField, reason) => {
  expect(streamAndType(event, { streamField })).toBe(reason);
  expect(streamAndType(event, { typeField: streamField })).toBe(reason);
});

test("a name that isn't well-formed Unicode is refused", () => {
  expect(streamAndType({ name: "\uD800" }, { streamField: "name" })).toContain("isn't well-formed Unicode");
});

test("the program sorts JSON Lines into streams, and rejects a line without the field with its number", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "events.jsonl");
    const lines = ['{"kind":"a","order":{"id":1}}', '{"kind":"b","order":{"id":2}}', '{"kind":"a","order":{"id":1}}'];
    await writeFile(path, lines.join("\n"));
    const args = [
      "eventlog",
      "--input",
      path,
      "--stream-field",
      "order.id",
      "--events",
      "60",
      "--kills",
      "1",
      "--json",
    ];
    const good = await runProgram([...args, "--type-field", "kind"]);
    expect(good.stdout).toContain('"value":2,"unit":"streams"');
    expect(good.code).toBe(0);
    await writeFile(path, `${lines.join("\n")}\n{"kind":"a"}\n`);
    const bad = await runProgram(args);
    expect(bad.code).toBe(3);
    expect(bad.stdout).toContain("line 4: it has no field order.id");
  }));

test.each([["--stream-field"], ["--type-field"]])("%s without --input is a usage error", async (option) => {
  const { code, stderr } = await runProgram(["eventlog", option, "name"]);
  expect(code).toBe(2);
  expect(stderr).toContain("give them with --input");
});
