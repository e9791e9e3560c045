import type { Bench } from "@ehdb/harness";
import { appendAsync } from "./append-async.ts";
import { appendCall } from "./append-call.ts";
import { appendSize } from "./append-size.ts";
import { durableBatch } from "./durable-batch.ts";
import { durableBlocking } from "./durable-blocking.ts";
import { durableLatency } from "./durable-latency.ts";
import { durable } from "./durable.ts";
import { loopLeft } from "./loop-left.ts";
import { readPoint } from "./read-point.ts";
import { readRange } from "./read-range.ts";
import { replay } from "./replay.ts";
import { rollStall } from "./roll-stall.ts";

export const benches: readonly Bench[] = [
  appendCall,
  appendAsync,
  appendSize,
  durable,
  durableBatch,
  durableBlocking,
  durableLatency,
  readPoint,
  readRange,
  rollStall,
  replay,
  loopLeft,
];
