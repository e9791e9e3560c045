import type { Bench } from "@ehdb/harness";
import { drainBench, drainGrowth } from "./drain.ts";
import { latency } from "./latency.ts";
import { lazy } from "./lazy.ts";
import { poll } from "./poll.ts";

export const benches: readonly Bench[] = [drainBench, drainGrowth, lazy, poll, latency];
