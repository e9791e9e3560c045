import type { Bench } from "@ehdb/harness";
import { disorder } from "./disorder.ts";
import { fold } from "./invariants/fold.ts";
import { order } from "./invariants/order.ts";
import { reopen } from "./invariants/reopen.ts";
import { large } from "./large.ts";
import { manifestGrowth } from "./manifest-growth.ts";
import { memory } from "./memory.ts";
import { readStep } from "./read-step.ts";
import { readersBeside } from "./readers-beside.ts";
import { supersedeStored } from "./supersede-stored.ts";

export const benches: readonly Bench[] = [
  readStep,
  memory,
  disorder,
  readersBeside,
  manifestGrowth,
  supersedeStored,
  large,
  order,
  fold,
  reopen,
];
