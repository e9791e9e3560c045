import type { SimulatedHost } from "@ehdb/host";
import { openEventLogReader } from "../src/index.ts";
import type { DurableEventLog, EventLogReader } from "../src/index.ts";
import { codeOf, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import type { Moment } from "./moment.ts";
import type { Random } from "./random.ts";
import { readOnce } from "./readers.ts";
import type { Reading } from "./readers.ts";
import { drawKeys } from "./settings.ts";

/** What was surely hidden when the writer's engine was at a revision. */
interface Hides {
  readonly revision: number;
  readonly recoveries: number;
  readonly firstVersions: ReadonlyMap<string, number>;
}

/**
 * A reader beside the writer. What it shows is held to the model, and counts as promised: it's only what was stated durable. It never goes back, from
 * its opening to the end of the machine's life.
 */
export class ReaderBeside {
  readonly random: Random;
  reader: EventLogReader | undefined;
  /** Where it was opened: it ends with it. */
  host: SimulatedHost | undefined;
  /** Rising; what is hidden by one counts once the reader is as far. */
  hides: Hides[] = [];

  constructor(random: Random) {
    this.random = random;
  }
}

type Step = Reading["step"];

/** Reads for a while, as long as the writer is at work. */
export async function besideAWriter({ run, stage, log }: Work): Promise<void> {
  if (run.beside === undefined) return;
  const { random } = run.beside;
  const step: Step = async (what, work) => await stage.step(what, work);
  for (let left = random.between(2, 10); left > 0 && run.ledger.violations.length === 0; left--) {
    if (random.chance(0.3)) await stage.pause(random.pick([1, 20, 60, 100]));
    await once(run, run.beside, step, log);
  }
}

/** A look or two while a writer is opened, or before: there may be no log yet. */
export async function besideRecovery(run: Run): Promise<void> {
  if (run.beside === undefined) return;
  for (let left = run.beside.random.integer(3); left > 0; left--)
    await once(run, run.beside, async (_, work) => await work(), undefined);
}

async function once(run: Run, beside: ReaderBeside, step: Step, log: DurableEventLog | undefined): Promise<void> {
  const { random } = beside;
  const reader = await opened(run, beside, step);
  if (reader === undefined) return;
  if (log !== undefined) noteHides(run, beside, log);
  const looking = random.chance(0.5) ? look(run, reader, step, log) : undefined;
  if (random.chance(0.7)) await looking;
  await readOnce(readingOf(run, beside, reader, step), random.integer(17));
  await looking;
  if (!random.chance(0.03)) return;
  beside.reader = undefined;
  await step("the close of a reader beside", async () => await reader.close());
}

async function opened(run: Run, beside: ReaderBeside, step: Step): Promise<EventLogReader | undefined> {
  const { host } = run;
  if (beside.host !== host) beside.reader = undefined;
  if (beside.reader !== undefined) return beside.reader;
  const encryption = run.settings.encrypted ? { encryption: { keys: drawKeys(beside.random).keys } } : {};
  await step("the opening of a reader beside", async () => {
    try {
      beside.reader = await openEventLogReader({ dir: "/log", host, pollMillis: 20, ...encryption });
    } catch (error) {
      // Nobody has seen a log yet.
      if (codeOf(error) === "NOT_FOUND" && run.ledger.epoch === 0) return;
      excuse(run, error);
      return;
    }
    beside.host = host;
    run.counts.besideOpens++;
    run.ledger.acknowledge(beside.reader.position);
  });
  return beside.reader;
}

/** What is hidden durably now: the reader hides it once it's as far as the writer's engine is. */
function noteHides(run: Run, beside: ReaderBeside, { engine }: DurableEventLog): void {
  const { recoveries, ledger } = run;
  beside.hides = beside.hides.filter((hides) => hides.recoveries === recoveries).slice(-50);
  beside.hides.push({ revision: engine.revision, recoveries, firstVersions: new Map(ledger.surelyHidden) });
}

async function look(run: Run, reader: EventLogReader, step: Step, log: DurableEventLog | undefined): Promise<void> {
  const before = placesOf(reader);
  await step("a look of a reader beside", async () => {
    try {
      await reader.refresh();
    } catch (error) {
      excuse(run, error);
      return;
    }
    run.counts.besideLooks++;
    const now = placesOf(reader);
    if (now.some((place, i) => place < (before[i] as number)))
      run.ledger.fail(`a reader beside was at ${before.join()} (position, first, epoch), and is at ${now.join()}`);
    if (log?.engine.state === "open" && reader.engine.revision > log.engine.heads.durable)
      run.ledger.fail(
        `a reader beside shows ${reader.engine.revision}, and only ${log.engine.heads.durable} is durable`,
      );
    run.ledger.acknowledge(reader.position);
  });
}

function placesOf({ position, firstPosition, epoch }: EventLogReader): number[] {
  return [position, firstPosition, epoch];
}

/** Each read looks first: it shows a moment between what was known before and what is known behind it. */
function readingOf(run: Run, beside: ReaderBeside, log: EventLogReader, step: Step): Reading {
  const { random } = beside;
  const turns = random.pick([0, 5, 60, 200]);
  return {
    run,
    random,
    log,
    step: async (what, work) => await step(`${what} beside`, work),
    begins: (): Moment => {
      const known = beside.hides.findLast(({ revision }) => revision <= log.engine.revision);
      const isSame = known?.recoveries === run.recoveries;
      const firstVersions = (isSame ? known?.firstVersions : undefined) ?? new Map<string, number>();
      const { position, firstPosition } = log;
      return { position, hidden: { firstVersions, firstPosition }, recoveries: run.recoveries, isFirm: true };
    },
    ends: (from) => {
      run.counts.besideReads++;
      const { position, firstPosition } = log;
      run.ledger.acknowledge(position);
      if (from.recoveries !== run.recoveries || run.recoveries % 2 === 1) return undefined;
      const hidden = { firstVersions: new Map(run.ledger.perhapsHidden), firstPosition };
      return { from, position, hidden, isExact: false };
    },
    excuse: (error) => {
      if (codeOf(error) === "COMPACTED") run.counts.besideOvertaken++;
      else excuse(run, error);
    },
    turn: async () => {
      for (let turn = random.integer(turns + 1); turn > 0; turn--) await run.host.clock.yield();
    },
  };
}

/** What the disk does to a reader is no fault of it. */
function excuse(run: Run, error: unknown): void {
  const code = codeOf(error);
  if (code !== "IO_ERROR" || !mayHappen(run, code)) throw error;
}
