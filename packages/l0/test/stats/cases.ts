import type { ErrorCode } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEngine, EngineOptions, EngineStats } from "@ehdb/l0";
import { openOn } from "../drive.ts";

/** All figures but the errors, which have a code each. */
export type Name = Exclude<keyof EngineStats, "errors">;
/** By how much each goes up; `more` than nothing. */
export type Moves = Partial<Record<Name, number | "more">>;
export type BeforeAndAfter = readonly [EngineStats, EngineStats];

export interface Case {
  readonly what: string;
  readonly options?: Partial<EngineOptions>;
  /** Gives the figures before and after what is counted. */
  readonly run: (engine: DurableEngine, host: SimulatedHost) => Promise<BeforeAndAfter>;
  readonly moves: Moves;
  /** How many calls end with which error: these and no others. */
  readonly errors?: Partial<Record<ErrorCode, number>>;
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const quiet = (): void => undefined;
export const manual = { background: false, historyRevisions: 0 } as const;

export function append(engine: DurableEngine, key: string, id?: string): Promise<unknown> {
  return engine.commit((batch) => batch.append("events", key, bytes(`of ${key}`), id));
}

export function put(engine: DurableEngine, key: string): Promise<unknown> {
  return engine.commit((batch) => batch.put("state", key, bytes(`of ${key}`)));
}

export async function sealed(engine: DurableEngine, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await append(engine, key);
  await engine.seal();
}

export async function readAll(engine: Pick<DurableEngine, "log">, from?: number): Promise<void> {
  for await (const _ of engine.log("events").scan(from === undefined ? {} : { from }));
}

/** Before and after `work` of one engine. */
export async function around(engine: DurableEngine, work: () => unknown): Promise<BeforeAndAfter> {
  const before = engine.stats();
  await work();
  return [before, engine.stats()];
}

/** Of this engine, and of the next one on the same directory after `work`. */
export async function overAnOpen(
  engine: DurableEngine,
  host: SimulatedHost,
  options: Partial<EngineOptions>,
  work: (next: DurableEngine) => unknown = quiet,
): Promise<BeforeAndAfter> {
  const before = engine.stats();
  await engine.close();
  const next = await openOn(host, options);
  await work(next);
  return [before, next.stats()];
}

/** A call that must fail: what it's about is what was counted of it. */
export async function failing(call: () => unknown): Promise<void> {
  let failed = false;
  try {
    await call();
  } catch {
    failed = true;
  }
  if (!failed) throw new Error("a call that must fail did not");
}

/** Flips a bit of the first part's first block. */
export async function damage(host: SimulatedHost): Promise<void> {
  const path = `/store/parts/${(await host.files.list("/store/parts"))[0]}`;
  const file = await host.files.open(path, "write");
  await file.write(Buffer.from([(host.content(path)[4200] as number) ^ 1]), 4200);
  await file.close();
}

/** What goes wrong: 0 unless something did. */
export const errorCounters: readonly Name[] = [
  "not_open",
  "ingest_append_failed",
  "ingest_decode_failed",
  "journal_errors",
  "seal_failed",
  "merge_failed",
  "manifest_errors",
  "reclaim_failed",
  "read_errors",
  "scrub_damage",
  "pins_expired",
];

/** What is wrong with how the figures moved, in words. */
export function wrongMoves({ moves, errors = {} }: Case, [before, after]: BeforeAndAfter): string[] {
  const wrong: string[] = [];
  for (const [name, by] of Object.entries(moves) as [Name, number | "more"][]) {
    const moved = after[name] - before[name];
    if (by === "more" ? !(moved > 0) : moved !== by) wrong.push(`${name} moved by ${moved}, and by ${by} it must`);
  }
  for (const name of errorCounters) {
    const moved = after[name] - before[name];
    if (moved !== 0 && moves[name] === undefined)
      wrong.push(`${name} moved by ${moved}, and nothing was wrong with it`);
  }
  for (const code of Object.keys(after.errors) as ErrorCode[]) {
    const [moved, must] = [after.errors[code] - before.errors[code], errors[code] ?? 0];
    if (moved !== must) wrong.push(`${code} was counted ${moved} times, and ${must} calls ended with it`);
  }
  return wrong;
}

/** Figures that no case moves. */
export function unmoved(names: readonly string[], cases: readonly Case[]): string[] {
  const moved = new Set(cases.flatMap(({ moves }) => Object.keys(moves)));
  return names.filter((name) => !moved.has(name)).toSorted();
}
