import type { SimulationResult } from "@ehdb/harness";
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sourceOptions } from "./repository.ts";

const program = fileURLToPath(new URL("seed-program.ts", import.meta.url));
/** A seed that takes longer never ends. */
const longestSeedMillis = 120_000;

/** What the program that runs seeds is told. */
export interface SeedOrder {
  readonly root: string;
  readonly tier: string;
  readonly seeds: readonly number[];
}

/** What it says, seed by seed. */
export interface SeedMessage {
  readonly seed: number;
  /** Without a result the seed has just begun. */
  readonly result?: SimulationResult;
}

/**
 * Runs seeds one after the other in a process of their own, on the packages' sources. A seed that throws, ends the process or
 * never ends is a violation too, and the rest goes on in another process. `onSeed` says whether to go on.
 */
export async function runSeeds(
  order: SeedOrder,
  onSeed: (seed: number, result: SimulationResult) => boolean,
): Promise<void> {
  for (let rest = order.seeds; rest.length > 0;) {
    const { done, goOn } = await runProcess({ ...order, seeds: rest }, onSeed);
    if (!goOn) return;
    rest = rest.slice(done);
  }
}

async function runProcess(
  order: SeedOrder,
  onSeed: (seed: number, result: SimulationResult) => boolean,
): Promise<{ done: number; goOn: boolean }> {
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: [...sourceOptions],
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-4000)));
  return await new Promise((resolve, reject) => {
    let done = 0;
    let goOn = true;
    let running: number | undefined;
    let late = false;
    let watchdog: NodeJS.Timeout | undefined;
    child.on("message", ({ seed, result }: SeedMessage) => {
      clearTimeout(watchdog);
      if (result === undefined) {
        running = seed;
        watchdog = setTimeout(() => {
          late = true;
          child.kill("SIGKILL");
        }, longestSeedMillis);
        return;
      }
      running = undefined;
      done++;
      if (goOn && !onSeed(seed, result)) {
        goOn = false;
        child.kill("SIGKILL");
      }
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(watchdog);
      if (goOn && done < order.seeds.length) {
        if (running === undefined) {
          reject(new Error(`the simulation of ${order.tier} can't be run (${endOf(child, code, signal)}):\n${errors}`));
          return;
        }
        const how = late
          ? `didn't end within ${longestSeedMillis / 1000} seconds`
          : `ended the process (${endOf(child, code, signal)})`;
        goOn = onSeed(running, {
          violations: [`the seed ${how}${errors === "" ? "" : `: ${errors.trim()}`}`],
          counts: {},
        });
        done++;
      }
      resolve({ done, goOn });
    });
  });
}

/** Exit code 13 is Node's word for a promise that nothing will ever settle. */
function endOf(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `signal ${signal}`;
  return code === 13 ? `process ${child.pid} waits for a promise that nothing settles` : `exit code ${code}`;
}
