import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answer, linesOf } from "./in-process.ts";
import { directory, makeStore, shell } from "./program.ts";

async function store(options?: { readonly events?: number }): Promise<string> {
  const dir = join(await directory(), "store");
  await makeStore(dir, options);
  return dir;
}

/** Of the last part: what is before it can be read. */
async function damage(dir: string): Promise<void> {
  const name = (await readdir(join(dir, "parts"))).sort().at(-1) ?? "";
  const file = await open(join(dir, "parts", name), "r+");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 3000);
  await file.write(Buffer.from([(buffer[0] ?? 0) ^ 5]), 0, 1, 3000);
  await file.close();
}

describe.skipIf(process.platform !== "linux")("standard output that can't be written", () => {
  test.each([["export"], ["stats"], ["verify"], ["help"]])("on a full disk %s fails, and says so", async (command) => {
    const dir = await store({ events: 900 });
    const { code, stderr } = await shell(`ehdb ${command} ${command === "help" ? "" : dir} > /dev/full`, dir);
    expect([code, stderr]).toEqual([3, expect.stringContaining("IO_ERROR: writing standard output failed")]);
  });

  test("who reads on no more does no harm to what was found: damage stays 1, and a lock 3", async () => {
    const dir = await store();
    await damage(dir);
    const line = (command: string): string => `exec 3>&1; { ehdb ${command} 3>&-; echo $? >&3; } | true`;
    // `true` is gone before the answer comes.
    expect((await shell(line(`verify ${dir}`), dir)).stdout).toBe("1\n");
    expect((await shell(line(`inspect ${dir}`), dir)).stdout).toBe("0\n");
    expect((await shell(line(`inspect ${dir}-none --json`), dir)).stdout).toBe("2\n");
  });
});

describe.skipIf(process.platform !== "linux")("standard error that can't be written", () => {
  test.each([
    ["ehdb verify nosuch 2> /dev/full", 2],
    ["ehdb inspct 2> /dev/full", 2],
    ["ehdb verify store > /dev/full 2> /dev/full", 3],
  ])("changes no exit code: %s", async (line, code) => {
    const dir = await directory();
    await makeStore(join(dir, "store"));
    expect((await shell(line, dir)).code).toBe(code);
  });
});

describe("an error as a document", () => {
  test("is code, kind, message and data, and no more", async () => {
    for (const args of [
      ["inspect", "/none", "--json"],
      ["inspct", "--json"],
    ]) {
      const [{ error = {} } = {}] = linesOf((await answer(args)).out) as { error?: object }[];
      expect(Object.keys(error)).toEqual(["code", "kind", "message", "data"]);
    }
  });

  test("of wrong use it says what was wrong, beside the words for people", async () => {
    for (const args of [
      ["inspct", "--json"],
      ["inspect", "--json"],
      ["export", ".", "--limit", "0", "--json"],
      ["export", ".", "--dataset", "a", "--stream", "b", "--json"],
    ]) {
      const { code, out, err } = await answer(args);
      expect([args, code, linesOf(out)]).toMatchObject([
        args,
        2,
        [{ error: { code: "INVALID_ARGUMENT", kind: "fix-the-call" } }],
      ]);
      expect(err).not.toBe("");
    }
    expect((await answer(["inspct"])).out).toBe("");
  });

  test("behind events none follows: what was printed stays lines of events", async () => {
    const dir = await store({ events: 900 });
    await damage(dir);
    const { code, out, err } = await answer(["export", dir, "--json"]);
    const lines = linesOf(out);
    expect([code, err]).toEqual([1, expect.stringContaining("CORRUPT")]);
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => "error" in line)).toEqual([]);
  });
});
