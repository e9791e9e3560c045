import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../src/commands/index.ts";
import { directory, ehdb, makeStore, shell } from "./program.ts";

describe.skipIf(process.platform === "win32")("the examples in the help run as printed", () => {
  test.each(commands.map((command) => [command.name, command] as const))("of %s", async (name, { examples }) => {
    const dir = await directory();
    await makeStore(join(dir, "store"));
    if (name === "restore") await ehdb(["backup", join(dir, "store"), join(dir, "backup")]);
    await writeFile(join(dir, "events.jsonl"), (await ehdb(["export", join(dir, "store")])).stdout);
    for (const { line } of examples) {
      const { code, stderr } = await shell(line, dir);
      expect([line, code, stderr]).toEqual([line, 0, ""]);
    }
  });
});

interface Typed {
  readonly line: string;
  readonly output: string;
}

/** What is typed behind `$` in the blocks marked `console`, and what it prints; `…` stands for anything. */
function typedIn(markdown: string): Typed[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((typed) => {
        const end = typed.indexOf("\n");
        return { line: typed.slice(0, end), output: typed.slice(end + 1) };
      }),
  );
}

test.skipIf(process.platform === "win32")("the README's tour runs as printed, and prints what it says", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const dir = await directory();
  const typed = typedIn(readme);
  expect(typed.length).toBeGreaterThan(8);
  for (const { line, output } of typed) {
    const { stdout } = await shell(`exec 2>&1; ${line}`, dir);
    const pattern = output
      .trimEnd()
      .split("…")
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join("[^]*?");
    expect([line, stdout.trimEnd()]).toEqual([line, expect.stringMatching(new RegExp(`^${pattern}$`))]);
  }
});
