import { roundsAt } from "@ehdb/harness";
import type { BenchSize, MachineFacts, MeasuredResult } from "@ehdb/harness";
import Table from "cli-table3";
import { figure } from "./figures.ts";

const gib = 1024 ** 3;

export function printMachine(machine: MachineFacts, size: BenchSize): void {
  console.log(
    `${machine.cpu}, ${machine.cores} cores, ${(machine.memoryBytes / gib).toFixed(0)} GiB; ${machine.virtualisation}`,
  );
  console.log(`${machine.disk}, ${machine.filesystem}; ${machine.kernel}; Node ${machine.node}`);
  console.log(
    `size ${size}, medians of ${roundsAt[size]} rounds in turn and reversed; each row: one process on one machine, everything read from the page cache`,
  );
}

/** A row for each figure, then what is claimed of it: a shape decides, a goal is told. */
export function printResults(results: readonly MeasuredResult[]): void {
  const table = new Table({
    head: ["name", "value", "unit", "n", "p50", "p99", "p99.9", "max", "÷ floor", "÷ peers", "e", "±", "CPU s", "MiB"],
    colAligns: [
      "left",
      "right",
      "left",
      "right",
      "right",
      "right",
      "right",
      "right",
      "right",
      "left",
      "right",
      "right",
      "right",
      "right",
    ],
    style: { head: [], border: [], compact: true },
  });
  for (const row of results) table.push(cells(row));
  console.log(table.toString());
  for (const { name, verdicts = [], note } of results) {
    for (const { claim, holds, kind } of verdicts) {
      const word = kind === "shape" ? (holds ? "holds" : "DOESN'T HOLD") : holds ? "met" : "MISSED";
      console.log(`${word.padEnd(12)} ${kind.padEnd(5)} ${name}: ${claim}`);
    }
    if (note !== undefined) console.log(`${"".padEnd(12)} note  ${name}: ${note}`);
  }
}

function cells(row: MeasuredResult): string[] {
  const peers = Object.entries(row.peerRatio ?? {}).map(
    ([peer, ratio]) => `${peer} ${figure(ratio)} (${figure(row.peers?.[peer])})`,
  );
  const floor =
    row.floorRatio === undefined
      ? ""
      : `${figure(row.floorRatio)}${row.floor === undefined ? "" : ` (${figure(row.floor)})`}`;
  return [
    row.control === true ? `${row.name} (control)` : row.name,
    figure(row.value),
    row.unit,
    figure(row.n),
    figure(row.p50),
    figure(row.p99),
    figure(row.p999),
    figure(row.max),
    floor,
    peers.join("\n"),
    figure(row.exponent),
    row.variation === undefined ? "" : `${(row.variation * 100).toFixed(0)}%`,
    (row.cpuMillis / 1000).toFixed(1),
    (row.peakBytes / 1024 ** 2).toFixed(0),
  ];
}
