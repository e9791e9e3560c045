import { engineRuleDatasets, isEhdbError } from "@ehdb/contracts";
import type { Batches, Commit, Engine, Expectation, LogRecord, WriteBatch } from "@ehdb/contracts";
import fc from "fast-check";
import { referenceEngine } from "../src/reference.ts";
import type { ReferenceEngine } from "../src/reference.ts";
import { keys, logs, maps, steps } from "./model-steps.ts";
import type { Guess, Statement, Step, Way } from "./model-steps.ts";

/** The engine that is held against the reference: `engineRuleDatasets`, empty, with the dedupe window of the options. */
export interface Driven {
  readonly engine: Engine;
  /** Closes what is open, in whatever way loses nothing, and opens it again. */
  reopen(): Promise<Engine>;
}

export interface ModelOptions {
  readonly open: () => Promise<Driven>;
  readonly dedupeWindow: number;
  /** One seed, one series of histories. */
  readonly seed: number;
  readonly histories: number;
  /** In one history, at most. */
  readonly steps: number;
  /** Whether a history that differs is made shorter, which takes many more runs. Default true. */
  readonly shrinks?: boolean;
  /** What records hold: few, so that contents repeat. */
  readonly payloads?: readonly Uint8Array[];
}

/** Random histories: each step is done to both, and then all that can be read must be the same. Throws with the seed and the shortest history that differs. */
export async function checkModel(options: ModelOptions): Promise<void> {
  const payloads = options.payloads ?? ["", "x", "payload"].map((text) => Buffer.from(text));
  const property = fc.asyncProperty(steps(payloads.length, options.steps), async (history) => {
    const pair = new Pair(await options.open(), options.dedupeWindow, payloads);
    try {
      for (const step of history) {
        await pair.take(step);
        await pair.compare();
      }
    } finally {
      await pair.engine.close();
    }
  });
  const endOnFailure = options.shrinks === false;
  await fc.assert(property, {
    seed: options.seed,
    numRuns: options.histories,
    includeErrorInReport: true,
    endOnFailure,
  });
}

/** The engine and the reference, side by side. */
class Pair {
  engine: Engine;
  #oracle: ReferenceEngine;
  /** The engine decides what time it is. */
  #time = 0;
  readonly #driven: Driven;
  readonly #payloads: readonly Uint8Array[];
  readonly #committed: (readonly Statement[])[] = [];
  /** Payloads that were handed over, each for one call. */
  readonly #given: Uint8Array[] = [];
  /** The epochs of both, life by life. */
  readonly #epochs: { readonly engine: number; readonly oracle: number }[] = [];

  constructor(driven: Driven, dedupeWindow: number, payloads: readonly Uint8Array[]) {
    this.#driven = driven;
    this.engine = driven.engine;
    this.#oracle = referenceEngine({ datasets: engineRuleDatasets, dedupeWindow, now: () => this.#time });
    this.#payloads = payloads;
    this.#epochs.push({ engine: this.engine.epoch, oracle: this.#oracle.epoch });
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "commit":
        this.#committed.push(step.statements);
        return await this.#commit([step.statements]);
      case "repeat":
        return await this.#repeat(step.back, step.way);
      case "together":
        return await this.#commit(step.batches);
      case "scan":
        return await this.#same(`scan ${step.log}`, (engine) => all(engine.log(step.log).scan(step.options)));
      case "read":
        return await this.#same(`read ${step.key}`, (engine) => all(engine.log(step.log).read(step.key, step.options)));
      case "map scan":
        return await this.#same(`scan ${step.map}`, (engine) => all(engine.map(step.map).scan(step.options)));
      case "read over a commit":
        return await this.#readOver(step.statements);
      case "continue":
        return await this.#continue(step.log, step.sort, step.life);
      case "reopen":
        return await this.#reopen();
    }
  }

  /** All that can be read, in every way. */
  async compare(): Promise<void> {
    await this.#same("revision", (engine) => engine.revision);
    for (const name of logs) {
      await this.#same(`last of ${name}`, (engine) => engine.log(name).last);
      for (const direction of ["forwards", "backwards"] as const) {
        await this.#same(`${name} ${direction}`, (engine) => all(engine.log(name).scan({ direction })));
        for (const key of keys) {
          await this.#same(`${key} of ${name} ${direction}`, (engine) =>
            all(engine.log(name).read(key, { direction })),
          );
        }
      }
      for (const key of keys)
        await this.#same(`version of ${key} in ${name}`, (engine) => engine.log(name).version(key));
    }
    for (const name of maps) {
      await this.#same(name, (engine) => all(engine.map(name).scan()));
      for (const key of keys) await this.#same(`${key} of ${name}`, (engine) => engine.map(name).get(key));
    }
  }

  async #commit(batches: readonly (readonly Statement[])[]): Promise<void> {
    // What is right is found out beforehand, so that both are told the same.
    const stages = batches.map((statements) => statements.map((statement) => this.#staged(statement)));
    const staged = stages.map((calls) => (batch: WriteBatch) => {
      for (const call of calls) call(batch);
    });
    const calls = staged.map((stage) => outcomeOf(() => this.engine.commit(stage)));
    for (const payload of this.#given.splice(0)) payload.fill(0xff);
    const outcomes = await Promise.all(calls);
    for (const [i, stage] of staged.entries()) {
      const commit = outcomes[i]?.value as Commit | undefined;
      if (commit?.isDuplicate === false) this.#time = commit.time;
      const ought = await outcomeOf(() => this.#oracle.commit(stage));
      differ(`commit ${JSON.stringify(batches[i])}`, outcomes[i], ought);
    }
  }

  async #repeat(back: number, way: Way): Promise<void> {
    const batch = this.#committed.at(-1 - back) ?? [];
    const earlier = this.#committed.at(-2 - back) ?? [];
    const ways = {
      again: batch,
      shorter: batch.slice(0, -1),
      backwards: batch.toReversed(),
      joined: [...earlier, ...batch],
    };
    await this.#commit([ways[way]]);
  }

  #staged(statement: Statement): (batch: WriteBatch) => void {
    const { kind, key } = statement;
    if (kind === "delete") return (batch) => batch.delete(statement.map, key);
    if (kind === "expect") {
      const expectation = this.#expectation(statement.dataset, key, statement.guess);
      return (batch) => batch.expect(statement.dataset, key, expectation);
    }
    const given = (): Uint8Array => {
      const payload = Uint8Array.from(this.#payloads[statement.payload] ?? []);
      this.#given.push(payload);
      return payload;
    };
    if (kind === "put") return (batch) => batch.put(statement.map, key, given());
    return (batch) => batch.append(statement.log, key, given(), statement.id);
  }

  #expectation(dataset: string, key: string, guess: Guess): Expectation {
    const actual = this.#oracle.actual(dataset, key);
    const guesses = { right: actual, before: Math.max(actual - 1, 0), after: actual + 1, zero: 0 };
    return guess === "any" || guess === "none" || guess === "exists" ? guess : guesses[guess];
  }

  async #readOver(statements: readonly Statement[]): Promise<void> {
    const reads = (engine: Engine): Batches<unknown>[] => [
      ...logs.flatMap((name) => [engine.log(name).scan(), engine.log(name).scan({ direction: "backwards" })]),
      ...logs.flatMap((name) => keys.map((key) => engine.log(name).read(key))),
      ...maps.map((name) => engine.map(name).scan()),
    ];
    const begun: Begun[] = [];
    for (const read of reads(this.engine)) begun.push(await begin(read));
    const ought: unknown[] = [];
    for (const read of reads(this.#oracle)) ought.push(await all(read));
    await this.#commit([statements]);
    for (const [i, read] of begun.entries()) differ(`read ${i} over a commit`, await rest(read), ought[i]);
  }

  async #continue(log: string, sort: number, life: number): Promise<void> {
    const epochs = this.#epochs.at(-1 - (life % this.#epochs.length));
    if (epochs === undefined) return;
    const is = await outcomeOf(() => this.engine.log(log).assertContinues(sort, epochs.engine));
    const ought = await outcomeOf(() => this.#oracle.log(log).assertContinues(sort, epochs.oracle));
    differ(`continuing ${log} from ${sort} of life ${life}`, is.code, ought.code);
  }

  async #reopen(): Promise<void> {
    const before = this.engine.epoch;
    this.engine = await this.#driven.reopen();
    this.#oracle = this.#oracle.asOf(this.#oracle.revision);
    differ("the epoch is raised", this.engine.epoch > before, true);
    this.#epochs.push({ engine: this.engine.epoch, oracle: this.#oracle.epoch });
  }

  async #same(what: string, call: (engine: Engine) => unknown): Promise<void> {
    const is = await outcomeOf(() => call(this.engine));
    differ(what, is, await outcomeOf(() => call(this.#oracle)));
  }
}

/** What came of a call: a value, or an error by its code, and what a caller decides by. */
interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
  readonly data?: unknown;
}

async function outcomeOf(call: () => unknown): Promise<Outcome> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!isEhdbError(error)) throw error;
    const { code, data } = error;
    const tells = code === "CONFLICT" ? [data["dataset"], data["key"], data["expected"], data["actual"]] : [];
    return { code, data: code === "ID_REUSED" ? [data["dataset"], data["key"], data["id"]] : tells };
  }
}

interface Begun {
  readonly iterator: AsyncIterator<readonly unknown[]>;
  readonly seen: unknown[];
}

async function begin(batches: Batches<unknown>): Promise<Begun> {
  const iterator = batches[Symbol.asyncIterator]();
  const first = await iterator.next();
  return { iterator, seen: first.done === true ? [] : [...first.value] };
}

async function rest({ iterator, seen }: Begun): Promise<unknown[]> {
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    if (next.value.length === 0) throw new Error("a read gave an empty batch");
    seen.push(...next.value);
  }
  return seen;
}

async function all<T>(batches: Batches<T>): Promise<T[]> {
  const records: T[] = [];
  for await (const batch of batches) {
    if (batch.length === 0) throw new Error("a read gave an empty batch");
    records.push(...batch);
  }
  return records;
}

function differ(what: string, is: unknown, ought: unknown): void {
  const [one, other] = [shown(is), shown(ought)];
  if (one !== other) throw new Error(`${what}: the engine says ${one}, the reference ${other}`);
}

/** Names in their order, bytes as text, so that only what is said counts. */
function shown(value: unknown): string {
  if (value instanceof Uint8Array) return `<${Buffer.from(value).toString("latin1")}>`;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  if ("memory" in value) return shown(withPayload(value as LogRecord));
  const parts = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{ ${parts.map(([name, part]) => `${name}: ${shown(part)}`).join(", ")} }`;
}

/** Where the payload lies is no matter. Properties may be getters. */
function withPayload({ sort, key, version, revision, time, id, memory, start, end }: LogRecord): object {
  return { sort, key, version, revision, time, id, payload: memory.subarray(start, end) };
}
