import { EhdbError } from "@ehdb/contracts";
import { median } from "./statistics.ts";

/** A value at a time, in any unit. */
export interface TimedValue {
  readonly at: number;
  readonly value: number;
}

/**
 * By how much values rise from the first time to the last, on a straight line whose slope is the median of the slopes between any two
 * of them (Theil and Sen): a few that lie far off, as memory does before a collection, don't bend it.
 */
export function rise(values: readonly TimedValue[]): number {
  const slopes: number[] = [];
  for (const [index, one] of values.entries()) {
    for (const other of values.slice(index + 1)) {
      if (other.at > one.at) slopes.push((other.value - one.value) / (other.at - one.at));
    }
  }
  const [first, last] = [values[0], values.at(-1)];
  if (slopes.length === 0 || first === undefined || last === undefined)
    throw new EhdbError("INVALID_ARGUMENT", `a rise takes values of at least two times, not ${values.length}`, {});
  return median(slopes) * (last.at - first.at);
}
