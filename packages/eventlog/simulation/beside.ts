import type { DatasetSpec, MapDataset } from "@ehdb/contracts";
import { openEngine } from "@ehdb/l0";
import { eventLogDatasets, eventLogOn, openEventLog } from "../src/index.ts";
import type { AppendCall } from "./calls.ts";
import type { DurableEventLog, EventLogOptions } from "../src/index.ts";

/** What somebody else keeps in the log's engine: of each staged append, under the call's name, what it says. */
export const beside: DatasetSpec = { name: "beside", order: "by-key" };

/** What a staged append puts beside its events. */
export function putOf({ number, stream }: Pick<AppendCall, "number" | "stream">): { key: string; text: string } {
  return { key: `call ${number}`, text: `${stream} by call ${number}` };
}

/** A log in an engine of its own; or on one in which others keep something. */
export async function openLog(options: EventLogOptions, isShared: boolean): Promise<DurableEventLog> {
  if (!isShared) return await openEventLog(options);
  const engine = await openEngine({ ...options, datasets: [...eventLogDatasets, beside] });
  try {
    return await eventLogOn(engine, options.host === undefined ? {} : { host: options.host });
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** With what it stands on, whoever's that is. */
export async function closeLog(log: DurableEventLog): Promise<void> {
  try {
    await log.close();
  } finally {
    await log.engine.close();
  }
}

/** All that is kept beside the log. */
export async function keptBeside(map: MapDataset): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for await (const batch of map.scan())
    for (const { key, payload } of batch) kept.set(key, Buffer.from(payload).toString());
  return kept;
}
