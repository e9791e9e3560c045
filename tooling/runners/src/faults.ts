import { NotInjected } from "@ehdb/harness";
import type { Fault } from "@ehdb/harness";
import Table from "cli-table3";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { progressBar } from "./progress.ts";
import { builtOptions, repositoryRoot, withScratch } from "./repository.ts";
import { loadFaults } from "./tiers.ts";

export interface FaultsCommand {
  readonly tier: string;
  /** Only those whose name holds it. */
  readonly only?: string;
}

interface Finding {
  readonly verdict: "passed" | "FAILED" | "not injected";
  readonly seen: string;
}

export async function faults({ tier, only }: FaultsCommand): Promise<number> {
  const all = await loadFaults(repositoryRoot, tier);
  const wanted = all.filter(({ name }) => only === undefined || name.includes(only));
  const findings: Finding[] = [];
  await withScratch("faults", async (directory) => {
    const bar = progressBar("faults", wanted.length);
    try {
      for (const [index, fault] of wanted.entries()) {
        findings.push(await injected(fault, join(directory, String(index))));
        bar.increment();
      }
    } finally {
      bar.stop();
    }
  });
  printTable(wanted, findings);
  const count = (verdict: Finding["verdict"]): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const [passed, failed, left] = [count("passed"), count("FAILED"), count("not injected")];
  if (left > 0) console.log(`${left} not injected on this machine: they show nothing`);
  if (passed + failed === 0) console.log("no fault was injected: this run shows nothing");
  console.log(`tier=${tier} faults=${passed + failed} passed=${passed}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

async function injected(fault: Fault, directory: string): Promise<Finding> {
  mkdirSync(directory, { recursive: true });
  try {
    return { verdict: "passed", seen: await fault.inject({ directory, nodeOptions: builtOptions }) };
  } catch (error) {
    if (error instanceof NotInjected) return { verdict: "not injected", seen: error.message };
    return { verdict: "FAILED", seen: described(error) };
  }
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${described(error.cause)}`;
}

function printTable(wanted: readonly Fault[], findings: readonly Finding[]): void {
  const table = new Table({
    head: ["fault", "", "seen"],
    colWidths: [44, 14, 84],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const [index, { verdict, seen }] of findings.entries()) table.push([wanted[index]?.name ?? "", verdict, seen]);
  console.log(table.toString());
}
