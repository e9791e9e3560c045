import type { Bench } from "@ehdb/harness";
import { memory } from "./memory.ts";
import { readStep } from "./read-step.ts";

export const benches: readonly Bench[] = [readStep, memory];
