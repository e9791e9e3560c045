import { throwIfAborted } from "@ehdb/contracts";
import type { AppendResult, EventLog, Expectation } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import { isRefusal, shownAnswer } from "../answer.ts";
import type { Refusal } from "../answer.ts";
import type { EventSource } from "../event-source.ts";
import { newFinding } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { runWriters } from "../writers.ts";
import type { AppendPlan, PlannedAppend } from "../append-plan.ts";
import { EventCalls } from "./event-calls.ts";
import type { AppendCall } from "./event-calls.ts";

/** Of so many appends of a writer, one comes after a stale one, and one is repeated. */
const ODD_EVERY = 16;
const STALE_AT = 3;
const REPEATED_AT = 9;

export interface EventLoadOptions {
  readonly log: EventLog;
  readonly source: EventSource;
  readonly plan: AppendPlan;
  readonly round: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly onAppended: (append: PlannedAppend, result: AppendResult, millis: number) => void;
}

/** What a load found out about the log while it ran. */
export interface EventLoad {
  /** In the order in which they were made. */
  readonly calls: readonly AppendCall[];
  readonly stale: Finding;
  readonly repeated: Finding;
  readonly refused: Finding;
}

/** All writers at once: some expect anything, some that the stream is there or not, some an exact version. */
export async function runEventLoad(options: EventLoadOptions): Promise<EventLoad> {
  const load = new Load(options);
  await load.lookAtStreams();
  await runWriters(options.plan.load.writers, options.signal, (writer, signal) => load.write(writer, signal));
  return load;
}

class Load implements EventLoad {
  readonly stale: Finding = newFinding();
  readonly repeated: Finding = newFinding();
  readonly refused: Finding = newFinding();
  readonly #options: EventLoadOptions;
  readonly #made: EventCalls;
  /** The version that each stream has when all calls so far have taken effect. */
  readonly #versions = new Map<string, number>();

  constructor(options: EventLoadOptions) {
    this.#options = options;
    this.#made = new EventCalls(options.log, options.source);
  }

  get calls(): readonly AppendCall[] {
    return this.#made.calls;
  }

  async lookAtStreams(): Promise<void> {
    const { log, source } = this.#options;
    for (const stream of source.streams) this.#versions.set(stream, (await log.streamInfo(stream)).version);
  }

  async write(writer: number, signal: AbortSignal): Promise<void> {
    const { plan, round, clock, onAppended } = this.#options;
    let turn = 0;
    for (const append of plan.appends(round, writer)) {
      throwIfAborted(signal, "appending");
      if (turn % ODD_EVERY === STALE_AT) await this.#conflict(append, signal);
      const started = clock.monotonic();
      const before = this.#version(append.stream);
      this.#versions.set(append.stream, before + append.numbers.length);
      const answer = await this.#made.append(append, expectationOf(writer, before), signal);
      if (isRefusal(answer)) this.#wasRefused(append, answer);
      else onAppended(append, answer, clock.monotonic() - started);
      if (turn % ODD_EVERY === REPEATED_AT) await this.#repeat(append, expectationOf(writer, before), answer, signal);
      turn += 1;
    }
  }

  /** A stale version must be refused, and the refusal must say which one there is. */
  async #conflict(append: PlannedAppend, signal: AbortSignal): Promise<void> {
    const actual = this.#version(append.stream);
    const expected = actual === 0 ? 1 : actual - 1;
    const answer = await this.#made.append(append, expected, signal);
    this.stale.count += 1;
    const said = shownAnswer(answer);
    const { stream } = append;
    const wanted = shownAnswer({ code: "CONFLICT", data: { stream, expected, actual, isDeleted: false } });
    if (said !== wanted) this.stale.problems.add(`${said} instead of ${wanted}`);
  }

  async #repeat(
    append: PlannedAppend,
    expect: Expectation,
    first: AppendResult | Refusal,
    signal: AbortSignal,
  ): Promise<void> {
    const again = await this.#made.append(append, expect, signal);
    this.repeated.count += 1;
    const wanted = isRefusal(first) ? first : { ...first, isDuplicate: true };
    if (JSON.stringify(again) === JSON.stringify(wanted)) return;
    this.repeated.problems.add(
      `stream "${append.stream}": ${shownAnswer(first)}, and when it was repeated ${shownAnswer(again)}`,
    );
  }

  #wasRefused({ stream, numbers }: PlannedAppend, refusal: Refusal): void {
    this.refused.count += 1;
    this.refused.problems.add(
      `event ${this.#options.source.id(numbers[0] ?? 0)} of "${stream}": ${shownAnswer(refusal)}`,
    );
  }

  #version(stream: string): number {
    return this.#versions.get(stream) ?? 0;
  }
}

function expectationOf(writer: number, version: number): Expectation {
  if (writer < 3) return "any";
  if (writer < 4) return version === 0 ? "none" : "exists";
  return version;
}
