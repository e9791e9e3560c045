import type { Commit, Engine } from "@ehdb/contracts";
import { answerOf } from "../answer.ts";
import type { Refusal } from "../answer.ts";
import type { PlannedAppend } from "../append-plan.ts";
import type { EventSource } from "../event-source.ts";
import { stageCommit } from "./staged-commit.ts";
import type { Expected } from "./staged-commit.ts";

/** A commit as it was called, and what was said to it. */
export interface CommitCall extends PlannedAppend {
  readonly expected: Expected | undefined;
  /** Missing as long as it hasn't come. */
  answer?: Commit | Refusal;
}

/** Commits to an engine, and keeps in which order it was called and what it said: commits take effect in that order. */
export class CommitCalls {
  readonly calls: CommitCall[] = [];
  readonly #engine: Engine;
  readonly #source: EventSource;

  constructor(engine: Engine, source: EventSource) {
    this.#engine = engine;
    this.#source = source;
  }

  async commit(append: PlannedAppend, expected?: Expected, signal?: AbortSignal): Promise<Commit | Refusal> {
    const call: CommitCall = { ...append, expected };
    this.calls.push(call);
    const options = signal === undefined ? {} : { signal };
    const answer = await answerOf(
      this.#engine.commit((batch) => stageCommit(batch, this.#source, append, expected), options),
    );
    call.answer = answer;
    return answer;
  }
}
