import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type EventLogOptions, openEventLog } from "@ehdb/eventlog";
import { simulatedHost } from "@ehdb/host";
import { describe, expect, onTestFinished, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { eventsOf, numbered, positionsOf } from "./events.ts";

const keyRing = { current: "one", keys: { one: randomBytes(32) } };

describe("a log's directory", () => {
  test("is open once, and can be opened again after a crash of whoever had it", async () => {
    const { host, log } = await stage();
    await expect(openOn(host)).rejects.toMatchObject({ code: "LOCKED" });
    await log.append("s", numbered(1));
    const again = await openOn(host.kill());
    expect(again.position).toBe(1);
    await again.close();
  });

  test("is made by an open, but for one that wants it to be there", async () => {
    const host = simulatedHost({ seed: 1 });
    await expect(openOn(host, { create: false })).rejects.toMatchObject({ code: "NOT_FOUND", data: { path: "/log" } });
    await expect(host.files.list("/log")).rejects.toMatchObject({ code: "ENOENT" });
    await (await openOn(host)).close();
    await (await openOn(host, { create: false })).close();
  });

  test("is open in one process", async () => {
    const dir = await mkdtemp(join(tmpdir(), "ehdb-eventlog-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const log = await openEventLog({ dir });
    const program = `import { openEventLog } from "@ehdb/eventlog";
      await openEventLog({ dir: process.argv[1] }).catch((error) => console.log(error.code));`;
    const run = async (): Promise<string> => {
      const args = ["--input-type=module", "-e", program, dir];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
      return stdout.trim();
    };
    expect(await run()).toBe("LOCKED");
    await log.close();
    expect(await run()).toBe("");
  });

  test("holds nothing that can be read without the key, and isn't opened with another", async () => {
    const { host, log } = await stage({ encryption: keyRing });
    for (let n = 0; n < 20; n++) await log.append("a secret stream", { type: "a secret type", data: "a secret" });
    await log.engine.seal();
    await log.append("a secret stream", { type: "a secret type", data: "a secret" });
    await log.close();
    const files = (await filesOf(host, "/log")).map((path) => Buffer.from(host.content(path)).toString("latin1"));
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((content) => content.includes("a secret"))).toEqual([]);
    await expect(openOn(host)).rejects.toMatchObject({ code: "KEY_MISSING" });
    const other = { current: "one", keys: { one: randomBytes(32) } };
    await expect(openOn(host, { encryption: other })).rejects.toMatchObject({ code: "WRONG_KEY" });
    const again = await openOn(host, { encryption: keyRing });
    expect((await eventsOf(again.scan())).map(({ data }) => data)).toEqual(Array(21).fill("a secret"));
    await again.close();
  });

  test("is read compressed as it was written", async () => {
    const { host, log } = await stage({ compression: "deflate" });
    await log.append("s", numbered(300));
    await log.engine.seal();
    await log.close();
    const again = await openOn(host);
    expect((await positionsOf(again.scan())).length).toBe(300);
    await again.close();
  });

  test.each<[Record<string, unknown>, string]>([
    [{ durabilty: "sync" }, "durability"],
    [{ sealmaxBytes: 1 }, "sealMaxBytes"],
    [{ upcaster: {} }, "upcasters"],
    [{ dedupeWindows: 1 }, "dedupeWindow"],
  ])("isn't opened with an option that there isn't: %j", async (wrong, meant) => {
    const host = simulatedHost({ seed: 1 });
    const options = { dir: "/log", host, ...wrong } as EventLogOptions;
    await expect(openEventLog(options)).rejects.toMatchObject({ code: "INVALID_OPTION", data: { suggestion: meant } });
  });

  test.each<Record<string, unknown>>([
    { dir: "" },
    { dedupeWindow: -1 },
    { durability: "always" },
    { schemas: { placed: 1 } },
    { upcasters: { placed: 1 } },
    { sealMaxBytes: 1 },
  ])("isn't opened with a wrong value, and nothing is made: %j", async (wrong) => {
    const host = simulatedHost({ seed: 1 });
    const options = { dir: "/log", host, ...wrong } as EventLogOptions;
    await expect(openEventLog(options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    expect(await host.files.stat("/log")).toBeUndefined();
  });
});

async function filesOf(host: ReturnType<typeof simulatedHost>, dir: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await host.files.list(dir)) {
    const path = join(dir, name);
    if ((await host.files.stat(path))?.kind === "directory") paths.push(...(await filesOf(host, path)));
    else paths.push(path);
  }
  return paths;
}

describe("a process whose seal has failed", () => {
  test("closes its log, and goes on", async () => {
    const dir = await mkdtemp(join(tmpdir(), "ehdb-eventlog-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const program = `import { renameSync } from "node:fs";
      import { openEventLog } from "@ehdb/eventlog";
      const dir = process.argv[1];
      const log = await openEventLog({ dir });
      await log.append("s", { type: "t" });
      renameSync(dir + "/parts", dir + "/elsewhere");
      await log.engine.seal().catch((error) => console.log(error.code));
      await log.append("s", { type: "t" });
      await log.close();
      console.log("closed");
      renameSync(dir + "/elsewhere", dir + "/parts");
      console.log((await openEventLog({ dir })).position);`;
    const args = ["--input-type=module", "-e", program, dir];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
    expect(stdout.trim().split("\n")).toEqual(["IO_ERROR", "closed", "2"]);
  });
});

test("the keys of a log are those that were given, whatever becomes of the caller's memory", async () => {
  const key = Buffer.alloc(32, 7);
  const { host, log } = await stage({ encryption: { current: "k", keys: { k: key } } });
  key.fill(0);
  for (let n = 0; n < 20; n++) await log.append("s", numbered(10));
  await log.engine.seal();
  await log.close();
  const again = await openOn(host, { encryption: { current: "k", keys: { k: Buffer.alloc(32, 7) } } });
  expect(await eventsOf(again.scan())).toHaveLength(200);
  await again.close();
});
