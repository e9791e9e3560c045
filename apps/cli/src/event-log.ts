import { eventLogDatasets } from "@ehdb/eventlog";
import type { EngineReader } from "@ehdb/l0";

/** Whether a store holds an event log. */
export function isEventLog({ datasets }: Pick<EngineReader, "datasets">): boolean {
  return eventLogDatasets.every(({ name, order }) => datasets.some((one) => one.name === name && one.order === order));
}
