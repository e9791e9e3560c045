// What may run at once, as the READMEs say it: each sentence names its test.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { DurableEngine } from "@ehdb/l0";
import { openOn, stage } from "./drive.ts";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const text = (value: string): Uint8Array => Buffer.from(value);

async function append(engine: DurableEngine, payload: string): Promise<unknown> {
  return await engine.commit((batch) => batch.append("events", "a", text(payload)));
}

async function count(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let records = 0;
  for await (const batch of batches) records += batch.length;
  return records;
}

test("a second open of a directory is LOCKED until the first one is closed", async () => {
  const { engine, host } = await stage();
  await append(engine, "x");
  await expect(openOn(host)).rejects.toMatchObject({ code: "LOCKED" });
  await append(engine, "y");
  await engine.close();
  const again = await openOn(host);
  expect(await count(again.log("events").scan())).toBe(2);
});

test("a read that was begun goes on below a floor that is raised, and one that begins there is told", async () => {
  const { engine } = await stage({ background: false });
  for (let i = 0; i < 600; i++) await append(engine, "x".repeat(300));
  await engine.seal();
  const begun = engine.log("events").scan({ from: 1 })[Symbol.asyncIterator]();
  const first = await begun.next();
  await engine.raiseFloor("events", 590);
  await engine.runPendingMerges();
  const behind = { [Symbol.asyncIterator]: () => begun };
  expect((first.value as readonly unknown[]).length + (await count(behind))).toBe(600);
  await expect(count(engine.log("events").scan({ from: 1 }))).rejects.toMatchObject({ code: "COMPACTED" });
  expect(await count(engine.log("events").scan())).toBe(11);
});

test("commits and reads go on beside seals and merges", async () => {
  const { engine } = await stage({ background: false });
  for (let part = 0; part < 3; part++) {
    for (let i = 0; i < 100; i++) await append(engine, "x".repeat(300));
    await engine.seal();
  }
  let isMerged = false;
  const merge = engine.merge().then(() => {
    isMerged = true;
  });
  let beside = 0;
  for (; !isMerged; beside++) {
    await append(engine, `${beside}`);
    if (beside % 10 === 0) await engine.seal();
    expect(await count(engine.log("events").scan({ from: 290 }))).toBe(11 + beside + 1);
  }
  await merge;
  expect(beside).toBeGreaterThan(1);
  expect(await engine.log("events").version("a")).toBe(300 + beside);
});

test("a close waits for the seal that is under way", async () => {
  const { engine, host } = await stage();
  await append(engine, "x");
  const held = host.hold(["dataSync"], /\.part$/);
  const sealing = engine.seal();
  await host.settle();
  let isClosed = false;
  const closing = engine.close().then(() => {
    isClosed = true;
  });
  await host.settle();
  expect(isClosed).toBe(false);
  held.release();
  await Promise.all([sealing, closing]);
  const again = await openOn(host);
  expect(again.recovery.replayedCommits).toBe(0);
});

test("a close gives up a merge, and what it was made of stays", async () => {
  const { engine, host } = await stage({ background: false });
  for (let i = 0; i < 600; i++) await append(engine, "x".repeat(3000));
  await engine.seal();
  const { manifest_parts } = engine.stats();
  const held = host.hold(["write"], /\.part$/);
  const merging = engine.merge({ dataset: "events" }).catch((error: unknown) => error);
  await host.settle();
  const closing = engine.close();
  await host.settle();
  held.release();
  await closing;
  expect(await merging).toMatchObject({ code: "CLOSED" });
  const again = await openOn(host, { background: false });
  expect(again.stats()).toMatchObject({ manifest_parts, orphans_reclaimed: 0 });
  expect(await count(again.log("events").scan())).toBe(600);
});

test.each(["l0", "eventlog"])("each sentence of the README of %s names a test that there is", (name) => {
  const readme = readFileSync(join(packages, name, "README.md"), "utf8");
  const [, section = ""] = /## What may run at once\n([^]*?)\n## /.exec(readme) ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("|") && !/^\|( \| test \||---)/.test(line));
  expect(rows.length).toBeGreaterThan(3);
  const folders = [`${name}/test`, "contracts/src/engine-rules", "contracts/src/event-log-rules"];
  const sources = folders.flatMap((folder) =>
    readdirSync(join(packages, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.name.endsWith(".ts"))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
  );
  const missing = rows
    .map((row) => / \| "([^"]*)" \|$/.exec(row)?.[1] ?? row)
    .filter((title) => !sources.some((source) => new RegExp(`(test|claim)\\(\\s*"${escaped(title)}"`).test(source)));
  expect(missing).toEqual([]);
});

function escaped(title: string): string {
  return title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
