import type { AppendResult, EventLog, Expectation, NewEvent } from "@ehdb/contracts";
import { answerOf } from "../answer.ts";
import type { Refusal } from "../answer.ts";
import type { EventSource } from "../event-source.ts";
import type { PlannedAppend } from "../append-plan.ts";

/** An append as it was called, and what was said to it. */
export interface AppendCall extends PlannedAppend {
  readonly expect: Expectation;
  /** Missing as long as it hasn't come. */
  answer?: AppendResult | Refusal;
}

/** An event by its number: the same in every process. */
export function eventOf(source: EventSource, number: number): NewEvent {
  return {
    id: source.id(number),
    type: source.type(number),
    data: source.data(number),
    metadata: { number },
  };
}

/** Appends to a log, and keeps in which order it was called and what it said: appends take effect in that order. */
export class EventCalls {
  readonly calls: AppendCall[] = [];
  readonly #log: EventLog;
  readonly #source: EventSource;

  constructor(log: EventLog, source: EventSource) {
    this.#log = log;
    this.#source = source;
  }

  async append(
    { stream, numbers }: PlannedAppend,
    expect: Expectation,
    signal?: AbortSignal,
  ): Promise<AppendResult | Refusal> {
    const events = numbers.map((number) => eventOf(this.#source, number));
    const call: AppendCall = { stream, numbers, expect };
    this.calls.push(call);
    const appended = this.#log.append(stream, events, { expect, ...(signal === undefined ? {} : { signal }) });
    const answer = await answerOf(appended);
    call.answer = answer;
    return answer;
  }
}
