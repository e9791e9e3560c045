import type { Bench, Fault, KillTarget, Mutant, Simulation, Soak } from "@ehdb/harness";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "./usage-error.ts";

/** What a package may keep beside its sources, and under which name each `index.ts` exports it. */
type ProgramKind = "bench" | "simulation" | "kill" | "faults" | "soak";

/** The packages of a repository that have programs of a kind; a package's name is its tier's. */
export function tiersWith(root: string, kind: ProgramKind): string[] {
  return readdirSync(join(root, "packages"))
    .filter((tier) => existsSync(programPath(root, tier, kind)))
    .sort();
}

export async function loadBenches(root: string, tier: string): Promise<readonly Bench[]> {
  return (await loadExport(programPath(root, tier, "bench"), "benches")) as readonly Bench[];
}

export async function loadSimulation(root: string, tier: string): Promise<Simulation> {
  requireTier(root, tier, "simulation");
  return (await loadExport(programPath(root, tier, "simulation"), "simulation")) as Simulation;
}

export async function loadKillTarget(root: string, tier: string): Promise<KillTarget> {
  requireTier(root, tier, "kill");
  return (await loadExport(programPath(root, tier, "kill"), "kill")) as KillTarget;
}

export async function loadFaults(root: string, tier: string): Promise<readonly Fault[]> {
  requireTier(root, tier, "faults");
  return (await loadExport(programPath(root, tier, "faults"), "faults")) as readonly Fault[];
}

export async function loadSoak(root: string, tier: string): Promise<Soak> {
  requireTier(root, tier, "soak");
  return (await loadExport(programPath(root, tier, "soak"), "soak")) as Soak;
}

export async function loadMutants(root: string, tier: string): Promise<readonly Mutant[]> {
  requireTier(root, tier, "simulation");
  const path = join(root, "packages", tier, "simulation", "mutants.ts");
  if (!existsSync(path)) throw new UsageError(`tier ${tier} has no list of planted defects: ${path} is missing`);
  return (await loadExport(path, "mutants")) as readonly Mutant[];
}

/** Throws a UsageError when the tier has nothing of this kind. */
export function requireTier(root: string, tier: string, kind: ProgramKind): void {
  const known = tiersWith(root, kind);
  if (!known.includes(tier)) {
    throw new UsageError(`there is no ${kind} for a tier "${tier}"; there is one for: ${known.join(", ") || "none"}`);
  }
}

function programPath(root: string, tier: string, kind: ProgramKind): string {
  return join(root, "packages", tier, kind, "index.ts");
}

async function loadExport(path: string, name: string): Promise<unknown> {
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  if (module[name] === undefined) throw new Error(`${path} doesn't export \`${name}\``);
  return module[name];
}
