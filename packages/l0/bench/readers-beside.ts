import { goal, payloadSeed, SeededRandom, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import type { DurableEngine } from "@ehdb/l0";
import { setImmediate as turn } from "node:timers/promises";
import { LOG, MAP, withEngine } from "./stage.ts";

const counts: BySize<number> = { tiny: 6000, small: 40_000, full: 143_000 };
const keys = 64;
const [readers, writers] = [16, 64];
/** Generations are small, so that seals and merges run as well. */
const generations: BySize<number> = { tiny: 64, small: 256, full: 256 };
const payloadBytes = 200;

/** What a reader found of a key: how many records the log has of it, and the number that the map holds. */
interface Found {
  readonly version: number;
  readonly number: number;
}

interface Beside {
  readonly reads: number;
  /** Begun or ended while a commit was on its way. */
  readonly beside: number;
  /** While they ran, commits became readable. */
  readonly overtaken: number;
  readonly violations: number;
}

/**
 * Readers beside a writer that never stops. Each commit appends to a key's records and puts their number into the map, so that whatever
 * a moment shows is known: both agree, nothing that was acknowledged is missing, and nothing is there that nobody has committed.
 */
export const readersBeside: Bench = {
  name: "l0.readers.beside",
  results: ["l0.readers.beside", "l0.readers.beside.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const count = counts[context.size];
    const start = performance.now();
    const ours = await measure(context, count, oneMoment);
    const seconds = (performance.now() - start) / 1000;
    const control = await measure(context, Math.ceil(count / 4), twoMoments);
    const unit = "violations (0 is right)";
    return [
      {
        name: "l0.readers.beside",
        value: ours.violations,
        unit,
        n: ours.reads,
        note: `${ours.reads} reads by ${readers} readers, ${Math.round(ours.reads / seconds)}/s, ${ours.beside} of them beside a commit, ${ours.overtaken} overtaken by one; seals and merges ran`,
        verdicts: [
          shape(`${ours.violations} violations = 0`, ours.violations === 0),
          shape(`${ours.overtaken} reads overtaken by a commit > 0`, ours.overtaken > 0),
          goal(
            `${((100 * ours.beside) / ours.reads).toFixed(2)}% beside a commit >= 99%`,
            ours.beside >= 0.99 * ours.reads,
          ),
        ],
      },
      {
        name: "l0.readers.beside.control",
        value: control.violations,
        unit: "violations (a reader that takes two moments for one must have some)",
        n: control.reads,
        control: true,
        verdicts: [shape(`${control.violations} violations > 0`, control.violations > 0)],
      },
    ];
  },
};

async function measure(
  context: BenchContext,
  count: number,
  read: (engine: DurableEngine, key: string) => Promise<Found>,
): Promise<Beside> {
  return await withEngine(context, { sealMaxCommits: generations[context.size] }, async (engine) => {
    const [asked, answered] = [new Float64Array(keys), new Float64Array(keys)];
    const random = new SeededRandom(payloadSeed);
    let [reads, beside, overtaken, violations, underWay] = [0, 0, 0, 0, 0];
    // Not before a merge has run beside them, unless none comes.
    const goesOn = (): boolean => reads < count || (reads < 20 * count && engine.stats().merges === 0);
    const writer = async (): Promise<void> => {
      while (goesOn()) {
        const key = random.integer(keys);
        const number = ++(asked[key] as number);
        asked[key] = number;
        underWay++;
        await engine.commit((batch) => {
          batch.append(LOG, nameOf(key), payloadOf(key, number));
          batch.put(MAP, nameOf(key), payloadOf(key, number));
        });
        underWay--;
        answered[key] = Math.max(answered[key] as number, number);
      }
    };
    const reader = async (): Promise<void> => {
      while (goesOn()) {
        const key = random.integer(keys);
        reads++;
        const [least, { durable }, wasUnderWay] = [answered[key] as number, engine.heads, underWay];
        const { version, number } = await read(engine, nameOf(key));
        const isRight = version === number && version >= least && version <= (asked[key] as number);
        if (!isRight) violations++;
        if (wasUnderWay + underWay > 0) beside++;
        if (engine.heads.durable > durable) overtaken++;
      }
    };
    await Promise.all([...Array.from({ length: writers }, writer), ...Array.from({ length: readers }, reader)]);
    const { seals, merges } = engine.stats();
    if (seals * merges === 0) throw new Error(`${seals} seals and ${merges} merges ran beside the reads`);
    return { reads, beside, overtaken, violations };
  });
}

async function oneMoment(engine: DurableEngine, key: string): Promise<Found> {
  const moment = engine.snapshot();
  try {
    return await found(moment, moment, key);
  } finally {
    moment.release();
  }
}

/** What an application does that reads twice, and believes that nothing has happened between. */
async function twoMoments(engine: DurableEngine, key: string): Promise<Found> {
  return await found(engine, engine, key);
}

/** The record's and the value's bytes are looked at as well: NaN when they aren't what was committed. */
async function found(logs: Pick<DurableEngine, "log">, maps: Pick<DurableEngine, "map">, key: string): Promise<Found> {
  let version = 0;
  for await (const batch of logs.log(LOG).read(key, { direction: "backwards", limit: 1 }))
    for (const record of batch) version = numberIn(record.payload, key) === record.version ? record.version : NaN;
  // Others get their turn in the middle of it.
  await turn();
  const value = await maps.map(MAP).get(key);
  return { version, number: value === undefined ? 0 : numberIn(value.payload, key) };
}

function nameOf(key: number): string {
  return `key-${key}`;
}

function payloadOf(key: number, number: number): Uint8Array {
  return Buffer.from(`${nameOf(key)} ${number} `.padEnd(payloadBytes, String(number % 10)));
}

function numberIn(payload: Uint8Array, key: string): number {
  const text = Buffer.from(payload).toString();
  const number = Number(text.slice(key.length + 1, text.indexOf(" ", key.length + 1)));
  return text === `${key} ${number} `.padEnd(payloadBytes, String(number % 10)) ? number : NaN;
}
