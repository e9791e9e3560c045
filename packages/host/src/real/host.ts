import type { Host } from "../host.ts";
import { RealClock } from "./clock.ts";
import { RealFiles } from "./files.ts";
import { RealRandom } from "./random.ts";
import { RealWorkers } from "./workers.ts";

let shared: Host | undefined;

/**
 * The machine that this process runs on. Every call gives the same host, so that the process has one pool of worker
 * threads; they start with the first job.
 */
export function realHost(): Host {
  shared ??= { files: new RealFiles(), clock: new RealClock(), random: new RealRandom(), workers: new RealWorkers() };
  return shared;
}
