import { isEhdbError } from "@ehdb/contracts";
import type {
  EventFilter,
  EventLog,
  EventStream,
  Expectation,
  LogCheckpoint,
  NewEvent,
  ReclaimOptions,
  RecordedEvent,
  Subscription,
} from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import type { SimulatedHost } from "@ehdb/host";
import fc from "fast-check";
import { consumers, steps, streams } from "./model-steps.ts";
import type { AppendChoice, Change, Guess, Place, Step, Way } from "./model-steps.ts";

export interface Driven {
  readonly host: SimulatedHost;
  readonly log: EventLog;
  /** Closes the log that is open, and opens it again. */
  reopen(): Promise<EventLog>;
}

export interface ModelOptions {
  readonly open: () => Promise<Driven>;
  readonly dedupeWindow: number;
  readonly seed: number;
  readonly histories: number;
  /** In one history, at most. */
  readonly steps: number;
}

export interface ModelReport {
  /** The seed, the shortest history that differs, and how; `undefined`: after every step all that could be read was the same. */
  readonly difference: string | undefined;
  readonly histories: number;
  /** Steps done to both, after each of which all that can be read was compared. */
  readonly comparisons: number;
}

/** Random histories: each step is done to both, and then all that can be read must be the same. */
export async function compareWithReference(options: ModelOptions): Promise<ModelReport> {
  let comparisons = 0;
  const property = fc.asyncProperty(steps(options.steps), async (history) => {
    const pair = await Pair.open(await options.open(), options.dedupeWindow);
    try {
      for (const step of history) {
        await pair.take(step);
        await pair.compare();
        comparisons++;
      }
    } finally {
      await pair.close();
    }
  });
  const run = await fc.check(property, { seed: options.seed, numRuns: options.histories, includeErrorInReport: true });
  const difference = run.failed ? await fc.asyncDefaultReportMessage(run) : undefined;
  return { difference, histories: run.numRuns, comparisons };
}

type Call = (log: EventLog) => unknown;

interface GivenAppend {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expect: Expectation;
}

/** The log and the reference, side by side, on one machine and its clock. */
class Pair {
  #log: EventLog;
  #oracle: EventLog;
  readonly #driven: Driven;
  readonly #openOracle: () => Promise<EventLog>;
  readonly #given: GivenAppend[] = [];
  /** The epochs of both, life by life. */
  readonly #epochs: { readonly log: number; readonly oracle: number }[] = [];

  private constructor(driven: Driven, oracle: EventLog, openOracle: () => Promise<EventLog>) {
    this.#driven = driven;
    this.#log = driven.log;
    this.#oracle = oracle;
    this.#openOracle = openOracle;
    this.#epochs.push({ log: this.#log.epoch, oracle: oracle.epoch });
  }

  static async open(driven: Driven, dedupeWindow: number): Promise<Pair> {
    const { host } = driven;
    const openOracle = (): Promise<EventLog> => referenceEventLog({ host, file: "/reference.jsonl", dedupeWindow });
    return new Pair(driven, await openOracle(), openOracle);
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.#oracle.close();
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "change":
        return await this.#change([step.change]);
      case "together":
        return await this.#change(step.changes);
      case "ack":
        return await this.#same(step, (log) => log.consumer(step.consumer).ack(step.position));
      case "forget":
        return await this.#same(step, (log) => log.consumer(step.consumer).delete());
      case "tail":
        return await this.#same(step, (log) =>
          caughtUp((ends) => log.consumer(step.consumer).tail({ ...step.filter, ...ends })),
        );
      case "read":
        return await this.#same(step, (log) => all(log.readStream(step.stream, step.options)));
      case "scan": {
        const { kind: _, filter, after, ...rest } = step;
        return await this.#same(step, (log) => all(log.scan({ ...filter, ...rest, ...this.#after(log, after) })));
      }
      case "scan backwards": {
        const { kind: _, filter, ...rest } = step;
        return await this.#same(step, (log) => all(log.scan({ direction: "backwards", ...filter, ...rest })));
      }
      case "subscribe":
        return await this.#subscribe(step.filter, step.after, step.change);
      case "wait":
        return await this.#driven.host.advance(step.millis);
      case "reopen":
        return await this.#reopen();
    }
  }

  /** All that can be read, in every way. */
  async compare(): Promise<void> {
    await this.#same("places", (log) => [log.position, log.firstPosition]);
    await this.#same("scan", (log) => all(log.scan()));
    await this.#same("consumers", (log) => log.consumers());
    for (const consumer of consumers) await this.#same(consumer, (log) => log.consumer(consumer).committed());
    for (const stream of streams) {
      await this.#same(`info of ${stream}`, (log) => log.streamInfo(stream));
      for (const direction of ["forwards", "backwards"] as const) {
        await this.#same(`${stream} ${direction}`, (log) => all(log.readStream(stream, { direction })));
        await this.#same(`scan of ${stream} ${direction}`, (log) => all(log.scan({ stream, direction })));
      }
    }
  }

  async #change(changes: readonly Change[]): Promise<void> {
    // What is right is found out beforehand, so that both are told the same.
    const calls: Call[] = [];
    for (const change of changes) calls.push(await this.#call(change));
    const outcomes = await Promise.all(calls.map((call) => outcomeOf(() => call(this.#log))));
    for (const [index, call] of calls.entries()) {
      differ(shown(changes[index]), outcomes[index], await outcomeOf(() => call(this.#oracle)));
    }
  }

  async #call(change: Change): Promise<Call> {
    switch (change.kind) {
      case "append":
        return await this.#append(change);
      case "repeat":
        return await this.#repeat(change.back, change.way, change.guess);
      case "delete": {
        const expect = await this.#expectation(change.stream, change.guess);
        return (log) => log.deleteStream(change.stream, { expect });
      }
      case "truncate":
        return (log) => log.truncateStream(change.stream, change.before);
      default:
        return (log) => log.reclaim(reclaimOptions(change));
    }
  }

  async #append({ stream, guess, events }: AppendChoice): Promise<Call> {
    const list = events.map(({ data, ...id }) => ({ type: data % 2 === 0 ? "even" : "odd", data: { n: data }, ...id }));
    return this.#appending({ stream, events: list, expect: await this.#expectation(stream, guess) });
  }

  async #repeat(back: number, way: Way, guess: Guess | undefined): Promise<Call> {
    const before = this.#given.at(-1 - back);
    if (before === undefined) return () => undefined;
    const events = alteration(before.events, way);
    const stream = way === "elsewhere" ? "b" : before.stream;
    const expect = guess === undefined ? before.expect : await this.#expectation(stream, guess);
    return this.#appending({ stream, events, expect });
  }

  #appending(append: GivenAppend): Call {
    this.#given.push(append);
    const { stream, events, expect } = append;
    return (log) => log.append(stream, events, { expect });
  }

  async #expectation(stream: string, guess: Guess): Promise<Expectation> {
    const { version } = await this.#oracle.streamInfo(stream);
    const guesses = { right: version, before: Math.max(version - 1, 0), after: version + 1, zero: 0 };
    return guess === "any" || guess === "none" || guess === "exists" ? guess : guesses[guess];
  }

  /** Follows both from a place to their ends, and over a change. */
  async #subscribe(filter: EventFilter, after: Place | undefined, change: Change): Promise<void> {
    const logs = [this.#log, this.#oracle] as const;
    const followed = logs.map((log) => new Follower(log, { ...filter, ...this.#after(log, after) }));
    const results = async (): Promise<unknown[]> => Promise.all(followed.map((follower) => follower.next()));
    const what = `subscription to ${shown(filter)} after ${shown(after)}`;
    const [first, oughtFirst] = await results();
    differ(what, first, oughtFirst);
    await this.#change([change]);
    const [second, oughtSecond] = await results();
    differ(`${what}, followed`, second, oughtSecond);
    for (const follower of followed) follower.stop();
  }

  #after(log: EventLog, place: Place | undefined): { after?: LogCheckpoint | number } {
    if (place === undefined) return {};
    const { position, life } = place;
    if (life === undefined) return { after: position };
    const epochs = this.#epochs[life % this.#epochs.length];
    const epoch = log === this.#log ? epochs?.log : epochs?.oracle;
    return { after: { position, epoch: epoch ?? 1 } };
  }

  async #reopen(): Promise<void> {
    this.#log = await this.#driven.reopen();
    await this.#oracle.close();
    this.#oracle = await this.#openOracle();
    this.#epochs.push({ log: this.#log.epoch, oracle: this.#oracle.epoch });
  }

  async #same(what: unknown, call: Call): Promise<void> {
    const is = await outcomeOf(() => call(this.#log));
    differ(shown(what), is, await outcomeOf(() => call(this.#oracle)));
  }
}

function reclaimOptions({ maxEvents, acknowledged, maxAge }: Change & { readonly kind: "reclaim" }): ReclaimOptions {
  return {
    ...(maxEvents === undefined ? {} : { maxEvents }),
    ...(acknowledged === undefined ? {} : { acknowledged }),
    ...(maxAge === undefined ? {} : { maxAgeSeconds: maxAge }),
  };
}

function alteration(events: readonly NewEvent[], way: Way): readonly NewEvent[] {
  const ways = {
    again: events,
    elsewhere: events,
    shorter: events.slice(0, -1),
    "without the first": events.slice(1),
    backwards: events.toReversed(),
    longer: [...events, { type: "even", data: { n: 0 }, id: "6" }],
  };
  return ways[way];
}

/** A subscription, looked at each time that it's caught up. */
class Follower {
  readonly #log: EventLog;
  readonly #stop = new AbortController();
  readonly #subscription: Subscription;
  readonly #ended: Promise<unknown>;
  #seen: unknown[] = [];
  #caughtUpAt = -1;
  #wake: () => void = () => undefined;

  constructor(log: EventLog, options: Parameters<EventLog["subscribe"]>[0]) {
    this.#log = log;
    const onCaughtUp = ({ position }: LogCheckpoint): void => {
      this.#caughtUpAt = position;
      this.#wake();
    };
    this.#subscription = log.subscribe({ ...options, signal: this.#stop.signal, onCaughtUp });
    this.#ended = outcomeOf(async () => {
      for await (const event of this.#subscription) this.#seen.push(plain(event));
    });
  }

  /** What was seen since the last time, and where that ended, or how. */
  async next(): Promise<unknown> {
    let end: unknown;
    while (end === undefined && this.#caughtUpAt < this.#log.position) {
      const woken = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
      });
      end = await Promise.race([woken, this.#ended]);
    }
    const seen = this.#seen;
    this.#seen = [];
    return { end, position: this.#subscription.checkpoint.position, seen };
  }

  stop(): void {
    this.#stop.abort();
  }
}

type Ends = { readonly signal: AbortSignal; readonly onCaughtUp: () => void };

async function caughtUp(open: (ends: Ends) => Subscription): Promise<unknown> {
  const stop = new AbortController();
  const subscription = open({ signal: stop.signal, onCaughtUp: () => stop.abort() });
  const seen: unknown[] = [];
  try {
    for await (const event of subscription) seen.push(plain(event));
  } catch (error) {
    if (!isEhdbError(error, "ABORTED")) throw error;
  }
  return { seen, at: subscription.checkpoint.position };
}

async function all(stream: EventStream): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of stream) events.push(plain(event));
  return events;
}

/** An id that was made is another one in each log. */
function plain(event: RecordedEvent): unknown {
  const { stream, version, position, time, type, data, id } = event;
  return { stream, version, position, time, type, data, ...(id.length === 1 ? { id } : {}) };
}

async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!isEhdbError(error)) throw error;
    const { code, data } = error;
    if (code === "CONFLICT") return { code, data };
    return { code, position: data["position"], first: data["firstPosition"], version: data["version"] };
  }
}

function differ(what: string, is: unknown, ought: unknown): void {
  const [one, other] = [shown(is), shown(ought)];
  if (one !== other) throw new Error(`${what}: the log says ${one}, the reference ${other}`);
}

/** Names in their order, so that only what is said counts. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{ ${parts.map(([name, part]) => `${name}: ${shown(part)}`).join(", ")} }`;
}
