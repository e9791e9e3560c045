import { throwIfAborted } from "@ehdb/contracts";
import type { Commit, Engine } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import { isRefusal, shownAnswer } from "../answer.ts";
import type { Refusal } from "../answer.ts";
import type { AppendPlan, PlannedAppend } from "../append-plan.ts";
import type { EventSource } from "../event-source.ts";
import { newFinding } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { runWriters } from "../writers.ts";
import { CommitCalls } from "./commit-calls.ts";
import type { CommitCall } from "./commit-calls.ts";
import type { Expected } from "./staged-commit.ts";

/** Of so many commits of a writer, one comes after a stale one, and one is repeated. */
const ODD_EVERY = 16;
const STALE_AT = 3;
const REPEATED_AT = 9;

export interface CommitLoadOptions {
  readonly engine: Engine;
  readonly source: EventSource;
  readonly plan: AppendPlan;
  readonly round: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly onCommitted: (append: PlannedAppend, commit: Commit, millis: number) => void;
}

/** What a load found out about the engine while it ran. */
export interface CommitLoad {
  /** In the order in which they were made. */
  readonly calls: readonly CommitCall[];
  readonly stale: Finding;
  readonly repeated: Finding;
  readonly refused: Finding;
}

/** All writers at once: some expect nothing, some a version in a log, some a revision in a map. */
export async function runCommitLoad(options: CommitLoadOptions): Promise<CommitLoad> {
  const load = new Load(options);
  await load.lookAtStreams();
  await runWriters(options.plan.load.writers, options.signal, (writer, signal) => load.write(writer, signal));
  return load;
}

class Load implements CommitLoad {
  readonly stale: Finding = newFinding();
  readonly repeated: Finding = newFinding();
  readonly refused: Finding = newFinding();
  readonly #options: CommitLoadOptions;
  readonly #made: CommitCalls;
  /** As they are when all calls so far have taken effect. */
  readonly #versions = new Map<string, number>();
  readonly #latest = new Map<string, number>();
  #revision: number;

  constructor(options: CommitLoadOptions) {
    this.#options = options;
    this.#made = new CommitCalls(options.engine, options.source);
    this.#revision = options.engine.revision;
  }

  get calls(): readonly CommitCall[] {
    return this.#made.calls;
  }

  async lookAtStreams(): Promise<void> {
    const { engine, source } = this.#options;
    const [events, latest] = [engine.log("events"), engine.map("latest")];
    for (const stream of source.streams) {
      this.#versions.set(stream, await events.version(stream));
      this.#latest.set(stream, (await latest.get(stream))?.revision ?? 0);
    }
  }

  async write(writer: number, signal: AbortSignal): Promise<void> {
    const { plan, round, clock, onCommitted } = this.#options;
    let turn = 0;
    for (const append of plan.appends(round, writer)) {
      throwIfAborted(signal, "committing");
      if (turn % ODD_EVERY === STALE_AT) await this.#conflict(append, signal);
      const started = clock.monotonic();
      const expected = this.#expectationOf(writer, append.stream);
      this.#willCommit(append);
      const answer = await this.#made.commit(append, expected, signal);
      if (isRefusal(answer)) this.#wasRefused(append, answer);
      else onCommitted(append, answer, clock.monotonic() - started);
      if (turn % ODD_EVERY === REPEATED_AT) await this.#repeat(append, expected, answer, signal);
      turn += 1;
    }
  }

  /** A stale revision must be refused, and the refusal must say which one there is. */
  async #conflict(append: PlannedAppend, signal: AbortSignal): Promise<void> {
    const dataset = "latest";
    const key = append.stream;
    const actual = this.#latest.get(key) ?? 0;
    const expected = actual === 0 ? 1 : actual - 1;
    const answer = await this.#made.commit(append, { dataset, expectation: expected }, signal);
    this.stale.count += 1;
    const said = shownAnswer(answer);
    const wanted = shownAnswer({ code: "CONFLICT", data: { dataset, key, expected, actual } });
    if (said !== wanted) this.stale.problems.add(`${said} instead of ${wanted}`);
  }

  async #repeat(
    append: PlannedAppend,
    expected: Expected | undefined,
    first: Commit | Refusal,
    signal: AbortSignal,
  ): Promise<void> {
    const again = await this.#made.commit(append, expected, signal);
    this.repeated.count += 1;
    const wanted = isRefusal(first) ? first : { ...first, isDuplicate: true };
    if (JSON.stringify(again) === JSON.stringify(wanted)) return;
    this.repeated.problems.add(
      `under "${append.stream}": ${shownAnswer(first)}, and when it was repeated ${shownAnswer(again)}`,
    );
  }

  #willCommit({ numbers }: PlannedAppend): void {
    this.#revision += 1;
    for (const number of numbers) {
      const stream = this.#options.source.stream(number);
      this.#versions.set(stream, (this.#versions.get(stream) ?? 0) + 1);
      this.#latest.set(stream, this.#revision);
    }
  }

  #expectationOf(writer: number, stream: string): Expected | undefined {
    const version = this.#versions.get(stream) ?? 0;
    if (writer < 3) return undefined;
    if (writer < 4) return { dataset: "events", expectation: version === 0 ? "none" : "exists" };
    if (writer < 6) return { dataset: "latest", expectation: this.#latest.get(stream) ?? 0 };
    return { dataset: "events", expectation: version };
  }

  #wasRefused({ stream, numbers }: PlannedAppend, refusal: Refusal): void {
    this.refused.count += 1;
    const id = this.#options.source.id(numbers[0] ?? 0);
    this.refused.problems.add(`event ${id} of "${stream}": ${shownAnswer(refusal)}`);
  }
}
