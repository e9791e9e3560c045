import { inspectStore } from "@ehdb/l0";
import type { StoreFacts } from "@ehdb/l0";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { exit } from "../exit-codes.ts";
import { printable } from "../printable.ts";
import { grouped, list, moment, size, table } from "../table.ts";

export const inspect: Command = {
  name: "inspect",
  summary: "what lies in a store: datasets, parts, manifests, journal, disk use",
  about: "Reads the manifest and the names and sizes of files, no records. A writer may be at work.",
  args: [store],
  examples: [
    { line: "ehdb inspect ./store", says: "tables" },
    { line: "ehdb inspect ./store --json", says: "the same as one JSON document, with every file" },
  ],
  async run(session, [dir = ""]) {
    const facts = await inspectStore({ dir, host: session.io.host, ...session.encryption });
    await session.answer(facts, () => text(facts));
    return exit.fine;
  },
};

function text(facts: StoreFacts): string {
  const { journal, disk, unnamed, manifests } = facts;
  const about = list([
    ["store", facts.storeId],
    ["incarnation", facts.incarnation],
    ["epoch", facts.epoch],
    ["commits in parts", facts.sealedThrough],
    ["last of them", moment(facts.sealedMillis)],
    ["commits in the journal", journal.problem ?? `${grouped(journal.first ?? 0)} to ${grouped(journal.last ?? 0)}`],
    ["disk", size(disk.total)],
  ]);
  const datasets = table(
    ["dataset", "order", "records:", "parts:", "bytes:", "by level"],
    facts.datasets.map(({ name, order, records, parts, bytes, levels }) => [
      name,
      order,
      records,
      parts,
      size(bytes),
      levels.map(({ level, parts: count }) => `${level}: ${count}`).join(", "),
    ]),
  );
  const files = table(
    ["files", "how many:", "bytes:"],
    [
      ["parts", facts.datasets.reduce((sum, { parts }) => sum + parts, 0), size(disk.parts)],
      ["journal segments", journal.segments.length, size(disk.journal)],
      ["manifests", manifests.length, size(disk.manifests)],
      ["kept aside for a full disk", "", size(disk.reserve)],
      ["named by nothing", unnamed.length, size(disk.unnamed)],
    ],
  );
  const others = unnamed.map(({ file, bytes }) => `${printable(`named by nothing: ${file} (${size(bytes)})`)}\n`);
  return `${about}\n${datasets}\n${files}${others.join("")}`;
}
