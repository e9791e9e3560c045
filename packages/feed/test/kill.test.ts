// A few real kills, from the sources. `npm run kill -- --tier feed` does many more.
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

/** A kill may come before the defect has done anything. */
const killsADefect = 5;

async function kills(times: number, seed: number, defect?: string): Promise<KillReport> {
  const directory = await mkdtemp(join(tmpdir(), "feed-kills-"));
  try {
    const defects = defect === undefined ? {} : { defect };
    return await runKills(kill, { times, seed, directory, nodeOptions, ...defects });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describe.skipIf(process.platform === "win32")("a process that is killed under load", () => {
  test("keeps what it settled and delivers the rest, as its owner and as a member of it", async () => {
    const report = await kills(4, 3);
    expect(report).toMatchObject({
      kills: 4,
      lost: 0,
      doubled: 0,
      disordered: 0,
      damaged: 0,
      revived: 0,
      problems: [],
    });
    expect(report.acknowledged).toBeGreaterThan(0);
  });

  test.each(Object.entries(kill.defects))("is found out when it %s", async (defect, as) => {
    let found = 0;
    for (let seed = 1; found === 0 && seed <= killsADefect; seed++) found = (await kills(1, seed, defect))[as];
    expect(found).toBeGreaterThan(0);
  });
});
