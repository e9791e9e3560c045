import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { directory, ehdb, makeStore, start } from "./program.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const writer = fileURLToPath(new URL("writer-program.ts", import.meta.url));

/** A store that another process has open to write. */
async function live(): Promise<{ dir: string; child: ChildProcess; append: (line: string) => Promise<void> }> {
  const dir = join(await directory(), "store");
  await makeStore(dir);
  const args = ["--conditions=@ehdb/source", "--import", tsx, writer, dir];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout as NodeJS.EventEmitter, "data");
  const append = async (line: string): Promise<void> => {
    const told = once(child.stdout as NodeJS.EventEmitter, "data");
    child.stdin?.write(`${line}\n`);
    await told;
  };
  return { dir, child, append };
}

describe.skipIf(process.platform === "win32")("beside a process that writes", () => {
  test("what looks works, and what writes is refused with the process that is in the way", async () => {
    const { dir, child, append } = await live();
    await append("one");
    for (const command of ["inspect", "stats", "verify", "export"]) {
      expect(await ehdb([command, dir]), command).toMatchObject({ code: 0, stderr: "" });
    }
    for (const args of [
      ["merge", dir],
      ["scavenge", dir],
      ["scrub", dir],
      ["import", "-", dir, "--append"],
      // Only read, so that nothing but the system tells who has it open.
      ...(process.platform === "linux" ? [["salvage", dir, `${dir}-saved`]] : []),
    ]) {
      const { code, stdout, stderr } = await ehdb(args);
      expect([code, stdout], args[0]).toEqual([3, ""]);
      expect(stderr).toContain("LOCKED");
      if (process.platform === "linux") expect(stderr).toContain(`process ${child.pid}`);
      expect(stderr).toContain("Stop that process, or ");
    }
    const { stdout, code } = await ehdb(["merge", dir, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([3, { error: { code: "LOCKED", kind: "retry" } }]);
  });

  test("a backup has what was acknowledged, and the process that writes goes on", async () => {
    const { dir, append } = await live();
    await append("before");
    const { code, stdout, stderr } = await ehdb(["backup", dir, `${dir}-backup`, "--json"]);
    expect([code, stderr, JSON.parse(stdout)]).toMatchObject([0, "", { besideWriter: true }]);
    await append("after");
    expect((await ehdb(["verify", `${dir}-backup`])).code).toBe(0);
    expect((await ehdb(["restore", `${dir}-backup`, `${dir}-restored`])).code).toBe(0);
    const events = (await ehdb(["export", `${dir}-restored`, "--stream", "live"])).stdout;
    expect(
      events
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { data: string }).data),
    ).toEqual(["before"]);
  });

  test("tail follows, and Ctrl-C ends it well", async () => {
    const { dir, append } = await live();
    const tail = start(["tail", dir, "--last", "1"]);
    await tail.printed("order-1@");
    await append("hello");
    await tail.printed('live@1  line  "hello"');
    tail.child.kill("SIGINT");
    expect(await tail.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("tail --json is a line an event, and ends at its limit", async () => {
    const { dir, append } = await live();
    const tail = start(["tail", dir, "--after", "93", "--limit", "2", "--json"]);
    await append("first");
    await append("second");
    const { code, stdout } = await tail.ended;
    const lines = stdout.trimEnd().split("\n");
    expect([code, lines.map((line) => (JSON.parse(line) as { data: string }).data)]).toEqual([0, ["first", "second"]]);
  });
});

describe.skipIf(process.platform === "win32")("signals and pipes", () => {
  test("an import that is interrupted keeps what was appended, and says so, also to programs", async () => {
    const dir = join(await directory(), "new");
    const importing = start(["import", "-", dir, "--json"], { stdio: ["pipe", "pipe", "pipe"] });
    for (let n = 0; n < 100; n++) importing.child.stdin?.write(`{"stream":"a","type":"b","data":${n}}\n`);
    const seen = async (): Promise<number> => (await ehdb(["export", dir])).stdout.split("\n").length - 1;
    while ((await seen()) < 50) await new Promise((resolve) => void setImmediate(resolve));
    importing.child.kill("SIGINT");
    const { code, stdout, stderr } = await importing.ended;
    expect([code, (await ehdb(["verify", dir])).code]).toEqual([130, 0]);
    const stored = await seen();
    expect(stored).toBeGreaterThanOrEqual(50);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "ABORTED", data: { stored } } });
    expect(stderr).toContain(`Lines up to ${stored} are stored: go on with tail -n +${stored + 1} FILE | ehdb import`);
  });

  test("who reads only the beginning of an export does no harm", async () => {
    const dir = join(await directory(), "store");
    await makeStore(dir, { events: 900 });
    const exporting = start(["export", dir]);
    await exporting.printed("\n");
    exporting.child.stdout?.destroy();
    expect(await exporting.ended).toMatchObject({ code: 0, stderr: "" });
  });
});
