import type { SimulatedHost } from "@ehdb/host";
import type { EngineReader } from "../src/index.ts";
import { codeOf, mayHappen } from "./context.ts";
import type { Run } from "./context.ts";
import { Forgotten } from "./forgotten.ts";
import type { Random } from "./random.ts";

/**
 * A reader beside the writer, with moments of its own. What it shows is held to the model at its revision, and counts as promised: it's only what
 * was stated durable. It never goes back, from its opening to the end of the machine's life.
 */
export class Beside {
  readonly random: Random;
  reader: EngineReader | undefined;
  /** Where it was opened: it ends with it. */
  host: SimulatedHost | undefined;
  /** Records that this reader, or anybody before its last look, has seen to be gone. */
  forgotten: Forgotten = new Forgotten();
  /** Backups that were begun, by number, and those that were said to be taken, with their last commit. */
  backups = 0;
  readonly taken: Map<number, number> = new Map();

  constructor(random: Random) {
    this.random = random;
  }
}

/** Says what a step is, for the message about one that hangs. */
export type Step = (what: string, work: () => Promise<void>) => Promise<void>;

/** What the disk does to a reader is no fault of it. */
export async function excused(run: Run, step: Step, what: string, work: () => Promise<void>): Promise<void> {
  await step(what, async () => {
    try {
      await work();
    } catch (error) {
      const code = codeOf(error);
      if (code === "IO_ERROR" && mayHappen(run, code)) return;
      throw new Error(`${what}: ${String(error)}`, { cause: error });
    }
  });
}
