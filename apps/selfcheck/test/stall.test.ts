import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { inDirectory } from "./program.ts";

const dist = new URL("../dist/", import.meta.url);

/** A process of its own, because only one with nothing left to do can show that it doesn't end in silence. */
const program = (dir: string): string => `
  import { realHost } from "@ehdb/host";
  import { run } from "${new URL("run.js", dist).href}";
  import { journalVerb } from "${new URL("verbs/journal.js", dist).href}";
  const [report] = await run({
    host: realHost(), verbs: [journalVerb], victim: "", signal: new AbortController().signal,
    options: { events: 10, seed: 1, kills: 0, strict: false, keep: false, dir: ${JSON.stringify(dir)} },
    openJournal: () => new Promise(() => undefined),
    onProgress() {}, onReport() {}, onKept() {},
  });
  console.log(JSON.stringify(report));
`;

test("a journal that never answers is reported, and cleaned up behind", () =>
  inDirectory(async (dir) => {
    const cwd = new URL("..", import.meta.url);
    const child = spawn(process.execPath, ["--input-type=module", "-e", program(dir)], {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.on("data", (bytes: Buffer) => (stdout += bytes.toString()));
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, outcome: "unavailable" });
    expect(stdout).toContain("it waits for something that never comes");
    expect(await readdir(dir)).toEqual([]);
  }));
