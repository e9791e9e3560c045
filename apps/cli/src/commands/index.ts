import type { Command } from "../command.ts";
import { backup, restore } from "./backup.ts";
import { exportEvents } from "./export.ts";
import { importEvents } from "./import.ts";
import { inspect } from "./inspect.ts";
import { merge, scavenge } from "./merge.ts";
import { salvage } from "./salvage.ts";
import { scrub } from "./scrub.ts";
import { stats } from "./stats.ts";
import { tail } from "./tail.ts";
import { verify } from "./verify.ts";

/** In the order of the help. */
export const commands: readonly Command[] = [
  inspect,
  stats,
  verify,
  scrub,
  tail,
  exportEvents,
  importEvents,
  merge,
  scavenge,
  backup,
  restore,
  salvage,
];
