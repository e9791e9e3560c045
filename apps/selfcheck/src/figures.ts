import { MIB } from "@ehdb/contracts";

/** Three significant digits and no more: the next ones change from run to run. */
export function rounded(value: number): number {
  return Number.isFinite(value) && value < 1000 ? Number(value.toPrecision(3)) : Math.round(value);
}

export const perSecond = (count: number, millis: number): number => rounded((count * 1000) / millis);
export const mibPerSecond = (bytes: number, millis: number): number => rounded((bytes * 1000) / millis / MIB);
