// A few real kills, from the sources. `npm run kill -- --tier eventlog` does many more.
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runKills } from "@ehdb/harness";
import type { KillReport } from "@ehdb/harness";
import { describe, expect, test } from "vitest";
import { kill } from "../kill/index.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
/** The program runs the sources, as this test does: nothing has to be built before. */
const nodeOptions = ["--conditions=@ehdb/source", "--import", tsx];

async function kills(times: number, defect?: string): Promise<KillReport> {
  const directory = await mkdtemp(join(tmpdir(), "eventlog-kills-"));
  try {
    const defects = defect === undefined ? {} : { defect };
    return await runKills(kill, { times, seed: 3, directory, nodeOptions, ...defects });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe.skipIf(process.platform === "win32")("a process that is killed under load", () => {
  test("keeps what it acknowledged, deleted and reclaimed, each event once, in its order", async () => {
    const report = await kills(3);
    expect(report).toMatchObject({
      kills: 3,
      lost: 0,
      doubled: 0,
      disordered: 0,
      damaged: 0,
      revived: 0,
      problems: [],
    });
    expect(report.acknowledged).toBeGreaterThan(0);
  });

  test("is found out when it acknowledges what isn't written, appends twice, or only says that a stream is deleted", async () => {
    expect((await kills(3, "acknowledges before it is written")).lost).toBeGreaterThan(0);
    expect((await kills(3, "appends twice")).doubled).toBeGreaterThan(0);
    expect((await kills(3, "says that a deletion is done")).damaged).toBeGreaterThan(0);
  });
});
