import type { EventSource } from "./event-source.ts";
import { LoadPlan } from "./load-plan.ts";

/** Events that are written at once. */
export interface PlannedAppend {
  /** Of the first, and, where groups are cut, of all. */
  readonly stream: string;
  readonly numbers: readonly number[];
}

/**
 * The plan of the load as appends. An event log appends to one stream at a time, so there each run of events of one stream in a
 * group is an append of its own. Known in every process.
 */
export class AppendPlan {
  readonly load: LoadPlan;
  readonly #source: EventSource;
  readonly #isCut: boolean;

  constructor(source: EventSource, events: number, groups: "cut by stream" | "whole") {
    this.#source = source;
    this.#isCut = groups === "cut by stream";
    this.load = new LoadPlan(events, source.maxBytes);
  }

  /** A writer's appends of a round, in the order in which it makes them. */
  *appends(round: number, writer: number): Generator<PlannedAppend, void, undefined> {
    for (let turn = 0; ; turn++) {
      const numbers = this.load.numbers(round, writer, turn);
      if (numbers.length === 0) return;
      yield* this.#runs(numbers);
    }
  }

  /** The append that an event is in. */
  appendOf(number: number): PlannedAppend {
    const { round, writer, index } = this.load.place(number);
    const turn = Math.floor(index / this.load.groupOf(writer));
    const found = this.#runs(this.load.numbers(round, writer, turn)).find(({ numbers }) => numbers.includes(number));
    return found ?? { stream: this.#source.stream(number), numbers: [number] };
  }

  #runs(numbers: readonly number[]): PlannedAppend[] {
    const runs: { stream: string; numbers: number[] }[] = [];
    for (const number of numbers) {
      const stream = this.#source.stream(number);
      const last = runs.at(-1);
      if (last !== undefined && (last.stream === stream || !this.#isCut)) last.numbers.push(number);
      else runs.push({ stream, numbers: [number] });
    }
    return runs;
  }
}
