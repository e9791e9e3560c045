import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runKills } from "../src/index.ts";
import type { KillReport, KillTarget, Survivor } from "../src/index.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "kills-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const toy: KillTarget = {
  tier: "toy",
  program: new URL("toy/program.mjs", import.meta.url),
  killsPerDirectory: 1,
  settings: () => ({}),
  defects: { "acknowledges first": "lost", "writes twice": "doubled" },
  async *survivors(place: string): AsyncGenerator<Survivor> {
    const path = join(place, "log");
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
    for (const [index, id] of lines.entries()) yield { position: index + 1, id, intact: true };
  },
};

function kills(times: number, defect?: string): Promise<KillReport> {
  return runKills(toy, { times, seed: 1, directory, nodeOptions: [], ...(defect === undefined ? {} : { defect }) });
}

describe("killing a real process", () => {
  it("finds nothing wrong with a log that syncs before it acknowledges", async () => {
    const report = await kills(4);
    expect(report).toMatchObject({ kills: 4, lost: 0, doubled: 0, disordered: 0, damaged: 0, problems: [] });
    expect(report.acknowledged).toBeGreaterThan(0);
  });

  it("finds what was acknowledged before it was written", async () => {
    const report = await kills(4, "acknowledges first");
    expect(report.lost).toBeGreaterThan(0);
    expect(report.problems[0]).toMatch(/was acknowledged at \d+ and is missing/);
  });

  it("finds what was written twice", async () => {
    expect((await kills(2, "writes twice")).doubled).toBeGreaterThan(0);
  });

  it("tells what the program said when it ended by itself", async () => {
    const broken = { ...toy, program: new URL("toy/missing.mjs", import.meta.url) };
    await expect(runKills(broken, { times: 1, seed: 1, directory, nodeOptions: [] })).rejects.toThrow(
      /ended by itself[^]*missing.mjs/,
    );
  });
});
