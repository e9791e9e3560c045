import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { commands } from "../src/commands/index.ts";
import { answer } from "./in-process.ts";
import { directory, ehdb, makeStore, program } from "./program.ts";

test("help and version are fine, and a wrong command is wrong use", async () => {
  for (const args of [["help"], ["--help"], ["help", "store"], ["--version"]]) {
    expect(await ehdb(args), args.join(" ")).toMatchObject({ code: 0, stderr: "" });
  }
  expect((await ehdb(["help", "store"])).stdout).toContain("CURRENT");
  for (const args of [
    [],
    ["inspct"],
    ["help", "inspct"],
    ["inspect"],
    ["tail", ".", "--lst", "3"],
    ["export", ".", "--limit", "0"],
  ]) {
    const { code, stderr, stdout } = await ehdb(args);
    expect([code, stdout], args.join(" ")).toEqual([2, ""]);
    expect(stderr).not.toBe("");
  }
  expect((await ehdb(["inspct"])).stderr).toContain("Did you mean inspect?");
});

test.each(commands.map(({ name }) => name))("help on %s has examples", async (name) => {
  const { code, stdout } = await ehdb(["help", name]);
  expect(code).toBe(0);
  expect(stdout).toContain("Examples:");
  expect(stdout).toBe((await ehdb([name, "--help"])).stdout);
});

test("a directory without a store is wrong use, in words and in JSON", async () => {
  const dir = await directory();
  for (const command of ["inspect", "stats", "verify", "scrub", "tail", "export", "merge", "scavenge"]) {
    const { code, stdout, stderr } = await ehdb([command, dir, "--json"]);
    expect([command, code, JSON.parse(stdout)]).toMatchObject([command, 2, { error: { code: "NOT_FOUND" } }]);
    expect(stderr).toContain("holds no store");
  }
  expect(await readdir(dir)).toEqual([]);
});

test("a place that can't be read can't be done, and nothing is made where something else lies", async () => {
  const dir = await directory();
  await mkdir(join(dir, "full"));
  await writeFile(join(dir, "full", "mine"), "");
  const events = join(dir, "events.jsonl");
  await writeFile(events, '{"stream":"a","type":"b"}\n');
  expect(await ehdb(["import", events, join(dir, "full")])).toMatchObject({ code: 2, stdout: "" });
  expect(await readdir(join(dir, "full"))).toEqual(["mine"]);
  expect((await ehdb(["import", join(dir, "none.jsonl"), join(dir, "new")])).code).toBe(2);
  expect((await ehdb(["import", dir, join(dir, "new"), "--append"])).code).toBe(3);
});

test("a file instead of a directory, and a copy within what is copied, are wrong use", async () => {
  const dir = await directory();
  await makeStore(join(dir, "store"));
  await symlink(join(dir, "store"), join(dir, "link"));
  const before = await readdir(join(dir, "store"));
  for (const args of [
    ["inspect", join(dir, "store", "CURRENT")],
    ["export", join(dir, "store", "CURRENT")],
    ["backup", join(dir, "store"), join(dir, "store", "backup")],
    ["backup", join(dir, "store"), join(dir, "store")],
    ["restore", join(dir, "store"), join(dir, "store", "restored")],
    ["backup", join(dir, "store"), join(dir, "store", "..backup")],
    ["backup", join(dir, "link"), join(dir, "store", "backup")],
    ["salvage", join(dir, "store"), join(dir, "link", "new", "backup")],
    ["inspect", join(dir, "store", "CURRENT", "below")],
  ]) {
    expect(await ehdb(args), args.join(" ")).toMatchObject({ code: 2, stdout: "" });
  }
  expect(await readdir(join(dir, "store"))).toEqual(before);
});

test("damage is 1, also when another command than verify meets it", async () => {
  const dir = join(await directory(), "store");
  await makeStore(dir);
  await writeFile(join(dir, "CURRENT"), "damaged");
  for (const command of ["inspect", "verify", "export"]) {
    const { code, stdout } = await ehdb([command, dir, "--json"]);
    expect([command, code]).toEqual([command, 1]);
    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
  }
});

test("a path that can't be looked at can't be done, and is named", async () => {
  const { code, err } = await answer(["inspect", `/tmp/${"x".repeat(300)}`]);
  expect([code, err]).toEqual([3, expect.stringContaining("IO_ERROR: /tmp/xxx")]);
  expect(err).toContain("can't be looked at");
});

test("errors speak of the command line, and not of calls in a program", async () => {
  const dir = await directory();
  await makeStore(join(dir, "store"));
  await mkdir(join(dir, "empty"));
  const [store, secret] = [join(dir, "store"), join(dir, "secret")];
  const given = { lines: ['{"stream":"a","type":"b"}'], files: { K: Buffer.alloc(32, 1) } };
  expect((await answer(["import", "-", secret, "--key", "main=K"], given)).code).toBe(0);
  for (const [args, says] of [
    [["export", secret], "which isn't given: add --key main=FILE, or set EHDB_KEY_main"],
    [["merge", secret], "add --key main=FILE"],
    [["inspect", join(dir, "empty")], "check the path; `ehdb import` makes a store"],
    [["restore", store, join(dir, "restored")], "make one with `ehdb backup`"],
    [["merge", store, "--dataset", "nope"], "Known are eventlog.events"],
    [["stats", store, "--prometheus", "--json"], "'--prometheus' cannot be used with option '--json'"],
    [["tail", store, "--last", "2", "--after", "1"], "cannot be used with option '--after"],
  ] as const) {
    const { code, err } = await answer(args);
    expect([args[0], code, err]).toEqual([args[0], 2, expect.stringContaining(says)]);
    expect(err).not.toMatch(/encryption\.|engine|open[A-Z]|open one/);
  }
});

test("only what writes is told which key encrypts", async () => {
  const dir = await directory();
  await makeStore(join(dir, "store"));
  const writers: string[] = [];
  for (const { name, args } of commands) {
    const paths = args.map(([arg]) => join(dir, arg === "<dir>" ? "store" : "none"));
    const { err } = await answer([name, ...paths, "--current-key", "a"]);
    if (!err.includes("unknown option '--current-key'")) writers.push(name);
  }
  expect(writers).toEqual(["scrub", "import", "merge", "scavenge", "backup", "salvage"]);
});

test("a program that isn't built says how it's built", async () => {
  const dir = await directory();
  await mkdir(join(dir, "src"));
  await copyFile(program, join(dir, "src", "ehdb.mjs"));
  await expect(promisify(execFile)(process.execPath, [join(dir, "src", "ehdb.mjs"), "help"])).rejects.toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^error: .*npm run ehdb -- help[^\n]*\n$/) as unknown,
  });
});
