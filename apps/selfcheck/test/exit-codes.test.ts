import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inDirectory, mainPath, runProgram } from "./program.ts";

test("help and version exit with 0", async () => {
  const help = await runProgram(["--help"]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("recovery");
  expect((await runProgram(["--version"])).code).toBe(0);
});

test("an unknown verb is a usage error that names the nearest one", async () => {
  const { code, stdout, stderr } = await runProgram(["jurnal"]);
  expect(code).toBe(2);
  expect(stderr).toContain("unknown verb 'jurnal'");
  expect(stderr).toContain("Did you mean journal?");
  expect(stdout).toBe("");
});

test("an unknown option is a usage error that names the nearest one", async () => {
  const { code, stderr } = await runProgram(["config", "--strct"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Did you mean --strict?");
});

test.each([
  ["--events", "0"],
  ["--events", "many"],
  ["--kills", "-1"],
  ["--seed", "1.5"],
  ["--seed", ""],
])("%s %s is a usage error that says what it must be", async (option, value) => {
  const { code, stderr } = await runProgram(["config", `${option}=${value}`]);
  expect(code).toBe(2);
  expect(stderr).toContain("must be a whole number from");
});

test("wrong use is a document for programs, and an exit code also when standard error can't be written", async () => {
  for (const args of [
    ["config", "--events", "abc", "--json"],
    ["jurnal", "--json"],
  ]) {
    const { code, stdout } = await runProgram(args);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      2,
      { error: { code: "INVALID_ARGUMENT", kind: "fix-the-call" } },
    ]);
  }
  if (process.platform !== "linux") return;
  const full = await open("/dev/full", "w");
  const child = spawn(process.execPath, [mainPath, "jurnal"], { stdio: ["ignore", "ignore", full.fd] });
  expect(await once(child, "close")).toEqual([2, null]);
  await full.close();
});

test("a directory that is a file is an invalid configuration", () =>
  inDirectory(async (directory) => {
    const file = join(directory, "file");
    await writeFile(file, "");
    const { code, stderr } = await runProgram(["config", "--dir", file]);
    expect(code).toBe(4);
    expect(stderr).toContain("isn't a directory");
    const json = await runProgram(["config", "journal", "--dir", file, "--json"]);
    expect(json.code).toBe(4);
    const outcomes = json.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
    expect(outcomes).toEqual(["invalid", "invalid"]);
  }));

test("a directory that can't be written is unavailable, and the message names it", () =>
  inDirectory(async (directory) => {
    await chmod(directory, 0o555);
    // Permissions don't hold for root, so its run is somebody else's.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { code, stderr } = await runProgram(["config", "--dir", directory], nobody);
    expect(stderr).toContain(`no directory can be made in ${directory}`);
    expect(code).toBe(5);
  }));

test("a verb that is switched off exits with 0 and says so", async () => {
  const { code, stdout } = await runProgram(["recovery", "--kills", "0", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ verb: "recovery", ok: true, outcome: "disabled" });
});

test("when nothing can run, the facts of a verb are there and say no", () =>
  inDirectory(async (directory) => {
    const file = join(directory, "file");
    await writeFile(file, "");
    const { code, stdout } = await runProgram(["durable-eventlog", "--dir", file, "--json"]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ durable_replay_records: 0, durable_replay_ok: false, ok: false });
  }));

test("a missing input is rejected", async () => {
  const { code, stdout } = await runProgram(["journal", "--input", "/no/such/file.jsonl", "--json"]);
  expect(code).toBe(3);
  expect(stdout).toContain("/no/such/file.jsonl isn't there");
});
