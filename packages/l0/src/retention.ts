import { invalidArgument, refuseUnknown } from "@ehdb/contracts";
import type { RetentionLimits } from "./api.ts";
import type { Dataset } from "./dataset.ts";
import { checkWhole } from "./read-options.ts";
import { logParts } from "./view.ts";
import type { View } from "./view.ts";

/** INVALID_ARGUMENT, INVALID_OPTION. */
export function checkLimits(limits: RetentionLimits): RetentionLimits {
  const known = ["maxBytes", "maxRecords", "maxAgeSeconds"] as const satisfies (keyof RetentionLimits)[];
  refuseUnknown(limits, known, "");
  if (known.every((name) => limits[name] === undefined))
    throw invalidArgument("limits", limits, "at least one of maxBytes, maxRecords and maxAgeSeconds");
  for (const name of known) if (limits[name] !== undefined) checkWhole(name, limits[name], 0);
  return limits;
}

/** The first position that stays when the oldest parts go, as long as those behind them are more than any limit that is given. */
export function floorFor(
  dataset: Dataset,
  view: View,
  { maxBytes, maxRecords, maxAgeSeconds }: RetentionLimits,
  now: number,
): number {
  const parts = logParts(view, dataset).map(({ meta }) => meta);
  const unsealed = view.generations.reduce((sum, { logs }) => sum + (logs.get(dataset.id)?.records ?? 0), 0);
  let bytes = parts.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  let records = parts.reduce((sum, part) => sum + part.records, unsealed);
  let floor = dataset.floor;
  for (const part of parts) {
    const isTooMuch =
      (maxBytes !== undefined && bytes > maxBytes) ||
      (maxRecords !== undefined && records > maxRecords) ||
      (maxAgeSeconds !== undefined && part.lastTime < now - maxAgeSeconds * 1000);
    if (!isTooMuch) break;
    bytes -= part.fileBytes;
    records -= part.records;
    floor = Math.max(floor, part.lastSort + 1);
  }
  return floor;
}
