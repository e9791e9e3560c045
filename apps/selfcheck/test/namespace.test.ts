import { once } from "node:events";
import { watch } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openEventLog } from "@ehdb/eventlog";
import { realHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import { expect, test } from "vitest";
import { inDirectory, runProgram, startProgram } from "./program.ts";

test("a store in use in the directory is neither disturbed nor judged", () =>
  inDirectory(async (directory) => {
    // A writer holds the directory itself, and a file in it looks like a damaged segment.
    const journal = await openJournal({ dir: directory, host: realHost() });
    await journal.appendDurable(Buffer.from("mine"));
    await mkdir(join(directory, "other"));
    const foreign = join(directory, "other", "0000000000000001.segment");
    await writeFile(foreign, "not a segment");
    const before = (await readdir(directory)).filter((name) => !name.endsWith(".segment"));
    const { code, stderr } = await runProgram(["--dir", directory, "--events", "200", "--kills", "1"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect((await readdir(directory)).filter((name) => !name.endsWith(".segment"))).toEqual(before);
    expect(await readFile(foreign, "utf8")).toBe("not a segment");
    await journal.appendDurable(Buffer.from("still mine"));
    expect(Buffer.from((await journal.read(2)).data).toString()).toBe("still mine");
    await journal.close();
  }));

test("an event log in use in the directory is neither disturbed nor judged", () =>
  inDirectory(async (directory) => {
    const log = await openEventLog({ dir: directory, host: realHost() });
    await log.append("mine", { type: "kept" });
    const before = await readdir(directory);
    const { code, stderr } = await runProgram([
      "l0",
      "eventlog",
      "--dir",
      directory,
      "--events",
      "100",
      "--kills",
      "1",
    ]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(await readdir(directory)).toEqual(before);
    expect((await log.append("mine", { type: "kept" }, { expect: 1 })).position).toBe(2);
    await log.close();
  }));

test("a directory that is missing is made, and removed again", () =>
  inDirectory(async (directory) => {
    const { code } = await runProgram(["config", "--dir", join(directory, "new")]);
    expect(code).toBe(0);
    expect(await readdir(directory)).toEqual([]);
  }));

test("with --keep the run's directory stays and is named", () =>
  inDirectory(async (directory) => {
    const { code, stderr } = await runProgram(["config", "--dir", directory, "--keep"]);
    expect(code).toBe(0);
    const [name = ""] = await readdir(directory);
    expect(name).toMatch(/^\.ehdb-selfcheck-/);
    expect(stderr).toContain(`kept: ${join(directory, name)}`);
  }));

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("after %s the run cleans up and exits with %i", (signal, exitCode) =>
  inDirectory(async (directory) => {
    const watcher = watch(directory);
    const { child, ended } = startProgram(["journal", "--dir", directory, "--events", "100000", "--json"]);
    await once(watcher, "change");
    watcher.close();
    child.kill(signal);
    const { code, stdout } = await ended;
    expect(code).toBe(exitCode);
    expect(stdout).toBe("");
    expect(await readdir(directory)).toEqual([]);
  }),
);
