import type { EventStream, ReadStreamOptions, ScanEventsOptions } from "@ehdb/contracts";
import { codeOf, inspect, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { seen, wants } from "./events.ts";
import type { Seen, Wanted } from "./events.ts";
import { types } from "./calls.ts";
import { beginning, ending, hold, wrongIn } from "./moment.ts";
import type { Bounds, Moment } from "./moment.ts";
import type { Model, ModelEvent } from "./model.ts";
import type { Random } from "./random.ts";
import type { DurableEventLog } from "../src/index.ts";

/** Who reads: the writer's own log, or a reader beside it. */
export interface Reading {
  readonly run: Run;
  readonly random: Random;
  readonly log: Pick<DurableEventLog, "readStream" | "scan" | "streamInfo" | "position" | "firstPosition">;
  readonly step: (what: string, work: () => Promise<void>) => Promise<void>;
  /** What is to be seen now, and what may have been since. */
  readonly begins: () => Moment;
  readonly ends: (from: Moment) => Bounds | undefined;
  /** Throws what can't be explained. */
  readonly excuse: (error: unknown) => void;
  /** Between batches. */
  readonly turn?: () => Promise<void>;
}

/** Reads in all the ways there are, for a while. Each must show what there was when it began. */
export async function reader(work: Work, operations: number): Promise<void> {
  const { run, stage, log } = work;
  const { random } = run;
  const reading: Reading = {
    run,
    random,
    log,
    step: async (what, call) => await stage.step(what, call),
    begins: () => beginning(work),
    ends: (from) => ending(work, from),
    excuse: (error) => {
      const code = codeOf(error);
      if (code === "CLOSED" && work.closing) return;
      if (code !== "IO_ERROR" || !mayHappen(run, code)) throw error;
    },
  };
  for (let left = operations; left > 0 && work.log.engine.state !== "closed"; left--) {
    const choice = random.integer(20);
    if (choice < 17) await readOnce(reading, choice);
    else await stage.pause(random.pick([1, 20, 100]));
    inspect(work);
  }
}

/** `choice` is from 0 to 16. */
export async function readOnce(reading: Reading, choice: number): Promise<void> {
  if (choice < 6) await readStream(reading);
  else if (choice < 12) await scan(reading);
  else await askInfo(reading);
}

async function readStream(reading: Reading): Promise<void> {
  const { run, log, random } = reading;
  const stream = run.calls.stream();
  const options: ReadStreamOptions = {
    ...(random.chance(0.5) ? {} : { direction: random.pick(["forwards", "backwards"] as const) }),
    ...(random.chance(0.6) ? {} : { from: random.between(1, 12) }),
    ...(random.chance(0.7) ? {} : { limit: random.integer(8) }),
  };
  const { direction, from, limit = Infinity } = options;
  const isBackwards = direction === "backwards";
  const isWanted = ({ version }: ModelEvent): boolean =>
    from === undefined || (isBackwards ? version <= from : version >= from);
  await read(reading, `a read of ${stream} ${JSON.stringify(options)}`, async () => {
    const { found, isCutShort } = await collected(reading, log.readStream(stream, options));
    return (bounds, { model }) => {
      const all = model.eventsOf(stream).filter(isWanted);
      const wanted = isBackwards ? all.toReversed() : all;
      return wrongIn(found, bounds, { wanted, limit, isCutShort });
    };
  });
}

async function scan(reading: Reading): Promise<void> {
  const { run, log, random } = reading;
  const isBackwards = random.chance(0.3);
  const place = random.integer(log.position + 1);
  const filter = drawWanted({ random, calls: run.calls });
  const options: ScanEventsOptions = {
    ...filter,
    ...(random.chance(0.7) ? {} : { limit: random.integer(12) }),
    ...(isBackwards ? { direction: "backwards" } : {}),
    ...(random.chance(0.4) ? {} : isBackwards ? { before: place + 1 } : { after: place }),
  };
  const { limit = Infinity, after = 0, before = Infinity } = options;
  const { hidden } = reading.begins();
  await read(reading, `a scan ${JSON.stringify(options)}`, async () => {
    try {
      const { found, isCutShort } = await collected(reading, log.scan(options));
      const isGone =
        before < hidden.firstPosition || (options.after !== undefined && Number(after) + 1 < hidden.firstPosition);
      if (isGone)
        run.ledger.fail(`a scan ${JSON.stringify(options)} from what was reclaimed, before ${hidden.firstPosition}`);
      return (bounds, { model }) => {
        const all = model.events.filter(
          (one) => one.position > Number(after) && one.position < before && wants(filter, one),
        );
        return wrongIn(found, bounds, { wanted: isBackwards ? all.toReversed() : all, limit, isCutShort });
      };
    } catch (error) {
      const isCompacted = before < log.firstPosition || Number(after) + 1 < log.firstPosition;
      if (codeOf(error) !== "COMPACTED" || !isCompacted) throw error;
      return () => undefined;
    }
  });
}

async function askInfo(reading: Reading): Promise<void> {
  const { run, log } = reading;
  const stream = run.calls.stream();
  await read(
    reading,
    `the info of ${stream}`,
    async () => {
      const info = await log.streamInfo(stream);
      return (bounds, { model, ought }) => {
        const versionAt = (position: number): number =>
          model.eventsOf(stream).findLast((event) => event.position <= position)?.version ?? 0;
        const [least, most] = [versionAt(bounds.from.position), versionAt(bounds.position)];
        const wrong = `it is ${JSON.stringify(info)}`;
        if (info.version < least || info.version > most) return `${wrong}, and must be at version ${least} to ${most}`;
        const first = bounds.from.hidden.firstVersions.get(stream) ?? 1;
        if (info.firstVersion < first || info.firstVersion > Math.max(first, info.version + 1))
          return `${wrong}, and begins before ${first} or beyond its end`;
        if (!bounds.isExact || ought === undefined) return undefined;
        const isSame = info.firstVersion === ought.firstVersion && info.isDeleted === ought.isDeleted;
        return isSame ? undefined : `${wrong}, and must be ${JSON.stringify(ought)}`;
      };
      // As it is known now, when all is known: hides that come later count no more.
    },
    stream,
  );
}

type Check = (
  bounds: Bounds,
  known: { readonly model: Model; readonly ought: ReturnType<Model["info"]> | undefined },
) => string | undefined;

/** One read, of what was there at the moment when it began. What it must have shown may be known only later. */
async function read(reading: Reading, what: string, begin: () => Promise<Check>, stream?: string): Promise<void> {
  const { run, log } = reading;
  const { ledger } = run;
  await reading.step(what, async () => {
    const from = reading.begins();
    try {
      const check = await begin();
      const bounds = reading.ends(from);
      if (from.isFirm && bounds !== undefined) ledger.acknowledge(from.position);
      const isKnown = ledger.model.position === log.position;
      const ought = isKnown && stream !== undefined ? ledger.model.info(stream) : undefined;
      const wrong = (): string | undefined => check(bounds as Bounds, { model: ledger.model, ought });
      hold(run, bounds, what, wrong, bounds?.position ?? 0);
    } catch (error) {
      reading.excuse(error);
    }
  });
}

export function drawWanted({ random, calls }: Pick<Run, "random" | "calls">): Wanted {
  if (random.chance(0.35)) return {};
  return {
    ...(random.chance(0.4) ? { types: [random.pick(types), random.pick(types)] } : {}),
    ...(random.chance(0.3) ? { stream: calls.stream() } : {}),
    ...(random.chance(0.3) ? { streamPrefix: random.pick(["", "order-1", "order-", "cold-", "a", "none"]) } : {}),
  };
}

async function collected(
  { run: { ledger }, random, turn }: Reading,
  events: EventStream,
): Promise<{ found: Seen[]; isCutShort: boolean }> {
  const found: Seen[] = [];
  const most = random.chance(0.05) ? random.integer(20) : Infinity;
  const way = random.integer(4);
  if (way < 2) {
    for await (const event of events) {
      found.push(seen(event));
      if (found.length > most) return { found, isCutShort: true };
    }
    return { found, isCutShort: false };
  }
  for await (const batch of way === 2 ? events.batches() : events.lazyBatches()) {
    if (batch.length === 0) ledger.fail("a read gave an empty batch");
    found.push(...batch.map(seen));
    await turn?.();
    // Who stops early lets go, and the rest is known to be missing.
    if (found.length > most) return { found, isCutShort: true };
  }
  return { found, isCutShort: false };
}
