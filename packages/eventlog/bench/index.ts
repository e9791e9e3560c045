import type { Bench } from "@ehdb/harness";
import { appendBatch } from "./append-batch.ts";
import { append } from "./append.ts";
import { appendGrowth, openGrowth } from "./growth.ts";
import { loopDelay } from "./loop-delay.ts";
import { manyStreams } from "./many-streams.ts";
import { replay } from "./replay.ts";
import { sealOverhead } from "./seal-overhead.ts";
import { streamRead } from "./stream-read.ts";
import { sustained } from "./sustained.ts";

export const benches: readonly Bench[] = [
  append,
  appendBatch,
  sustained,
  appendGrowth,
  openGrowth,
  sealOverhead,
  replay,
  streamRead,
  loopDelay,
  manyStreams,
];
