import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../src/repository.ts";

const source = `export const limit: number = 10;\n`;

/** Odd seeds count up to the limit, and some seeds go wrong in a way of their own. */
const simulation = `
import { limit } from "../src/limit.ts";
import { EhdbError } from "@ehdb/contracts";
export const simulation = {
  tier: "toy",
  required: ["odd"],
  async run(seed: number) {
    if (seed === 101) throw new EhdbError("UNEXPECTED", "thrown on purpose");
    if (seed === 102) process.exit(7);
    if (seed === 103) process.kill(process.pid, "SIGKILL");
    if (seed === 104) { process.channel?.unref(); await new Promise(() => {}); }
    const violations = limit > 10 && seed >= 3 ? ["the limit was passed"] : [];
    return { violations, counts: { odd: seed % 2 } };
  },
};
`;

/** A repository with one tier, whose simulation is as small as can be; the caller removes it. */
export function toyRepository(): string {
  const root = mkdtempSync(join(tmpdir(), "toy-repository-"));
  const place = join(root, "packages", "toy");
  mkdirSync(join(place, "src"), { recursive: true });
  mkdirSync(join(place, "simulation"));
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "@ehdb/toy", type: "module" }));
  writeFileSync(join(place, "src", "limit.ts"), source);
  writeFileSync(join(place, "simulation", "index.ts"), simulation);
  symlinkSync(join(repositoryRoot, "packages", "host", "node_modules"), join(place, "node_modules"));
  symlinkSync(join(repositoryRoot, "node_modules"), join(root, "node_modules"));
  return root;
}
