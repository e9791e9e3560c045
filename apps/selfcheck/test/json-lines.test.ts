import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { readJsonLines } from "../src/json-lines.ts";
import { inDirectory, runProgram } from "./program.ts";

async function read(
  content: string | Uint8Array,
  wanted = 100,
): Promise<{ texts: string[]; lines: number; types: string[] }> {
  return inDirectory(async (directory) => {
    const path = join(directory, "events.jsonl");
    await writeFile(path, content);
    const { payloads, lines } = await readJsonLines(realHost(), path, wanted);
    return {
      texts: payloads.map(({ data }) => Buffer.from(data).toString()),
      lines,
      types: payloads.map(({ type }) => type),
    };
  });
}

test("a byte order mark, CRLF, blank lines and a last line without an end are passed over", async () => {
  const { texts } = await read('\uFEFF{"a":1}\r\n\r\n  {"b":2}\r\n\n{"c":"ü"}');
  expect(texts).toEqual(['{"a":1}', '{"b":2}', '{"c":"ü"}']);
});

test("an object's own type is the event's type", async () => {
  expect((await read('{"type":"order.placed"}\n{"type":7}\n{}')).types).toEqual(["order.placed", "event", "event"]);
});

test("bad lines are named by number and reason, five of them, and the others counted", async () => {
  const bad = '{"ok":1}\nnot json\n[1]\nnull\n"text"\n\n7\n{\n{"ok":2}\n{"a":1}{"b":2}';
  await expect(read(bad)).rejects.toThrow(
    /line 2: not JSON.*line 3: an array.*line 4: null.*line 5: a string.*line 7: a number.*2 more bad lines/s,
  );
});

test("a line that isn't UTF-8 is named", async () => {
  await expect(read(Buffer.from([0x7b, 0x7d, 0x0a, 0x7b, 0xff, 0x7d]))).rejects.toThrow("line 2: not UTF-8");
});

test("an empty file and one of blank lines hold no events", async () => {
  await expect(read("")).rejects.toThrow("holds no events");
  await expect(read("\uFEFF\n \r\n\n")).rejects.toThrow("holds no events");
});

test("lines across the borders of chunks come out whole", async () => {
  const objects = Array.from({ length: 200 }, (_, i) => JSON.stringify({ i, text: "ä".repeat(i * 50) }));
  expect((await read(objects.join("\n"), 1000)).texts).toEqual(objects);
});

test("more lines than wanted are checked and counted, but not kept", async () => {
  const { texts, lines } = await read('{"a":1}\n{"a":2}\n{"a":3}', 2);
  expect(texts).toHaveLength(2);
  expect(lines).toBe(3);
  await expect(read('{"a":1}\n{"a":2}\nbad', 2)).rejects.toThrow("line 3");
});

test("a line longer than the largest event is named, and not kept in memory", async () => {
  const long = Buffer.alloc(17 * 1024 * 1024, 0x20);
  await expect(read(Buffer.concat([Buffer.from("{}\n"), long, Buffer.from("\n{}")]))).rejects.toThrow(
    "line 2: longer than",
  );
});

test("the program takes JSON Lines, and rejects a bad line with exit code 3", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "events.jsonl");
    await writeFile(path, '{"type":"a"}\n{"type":"b"}\n');
    const good = await runProgram(["journal", "--input", path, "--events", "50", "--json"]);
    expect(good.stdout).toContain("2 events of");
    expect(good.code).toBe(0);
    await writeFile(path, '{"type":"a"}\noops\n');
    const bad = await runProgram(["journal", "recovery", "--input", path, "--json"]);
    expect(bad.code).toBe(3);
    expect(
      bad.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { outcome: string }).outcome),
    ).toEqual(["rejected", "rejected"]);
    expect(bad.stdout).toContain("line 2: not JSON");
  }));
