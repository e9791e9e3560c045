import { openEventLog } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import type { KillTarget, Survivor } from "@ehdb/harness";
import { existsSync } from "node:fs";
import { consumerOf, isDataOf, scratchOf } from "./records.ts";
import type { Beforehand } from "./records.ts";
import { logOptions, settingsOf } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

export const kill: KillTarget = {
  tier: "eventlog",
  program: new URL("program.ts", import.meta.url),
  killsPerDirectory: 10,
  settings: settingsOf,
  defects: {
    "acknowledges before it is written": "lost",
    "appends twice": "doubled",
    "says that a deletion is done": "damaged",
  },
  async *survivors(directory: string, settings: unknown): AsyncGenerator<Survivor> {
    // A program that was killed before it made the directory has acknowledged nothing.
    if (!existsSync(directory)) return;
    await using log = await openEventLog(logOptions(directory, settings as KillSettings));
    for await (const { position, id, stream, data, metadata } of log.scan()) {
      if (stream === scratchOf(id.slice(0, id.lastIndexOf(":")))) continue;
      const intact = isDataOf(id, data) && (await isTrue(log, stream, metadata as Beforehand | undefined));
      yield { position, id, intact };
    }
  },
};

async function isTrue(log: DurableEventLog, writer: string, beforehand: Beforehand | undefined): Promise<boolean> {
  if (beforehand === undefined) return true;
  const { acknowledged, deletedAt } = beforehand;
  const { version, firstVersion } = await log.streamInfo(scratchOf(writer));
  return (
    (await log.consumer(consumerOf(writer)).committed()) >= acknowledged &&
    version >= deletedAt &&
    firstVersion > deletedAt
  );
}
