import type { EventSource } from "./event-source.ts";
import type { Problems } from "./problems.ts";
import type { AppendPlan, PlannedAppend } from "./append-plan.ts";

/** What was found in a log whose writers were killed: appends, whole, each once, those of one writer in the order it made them. */
export class FoundAppends {
  readonly #source: EventSource;
  readonly #plan: AppendPlan;
  readonly #ids: string[] = [];
  readonly #seen = new Set<number>();
  /** Each writer's next event, by round and writer. */
  readonly #next = new Map<string, number>();

  constructor(source: EventSource, plan: AppendPlan) {
    this.#source = source;
    this.#plan = plan;
  }

  /** All events of the log, in order; gives the appends that weren't there the last time. */
  take(ids: readonly string[], problems: Problems): PlannedAppend[] {
    const known = this.#ids.length;
    for (const [index, id] of this.#ids.entries()) {
      if (ids[index] !== id) problems.add(`position ${index + 1}: event ${ids[index]} instead of ${id}`);
    }
    const appends: PlannedAppend[] = [];
    for (let index = known; index < ids.length;) {
      const id = ids[index] ?? "";
      const number = this.#source.numberOfId(id);
      if (number === undefined || this.#seen.has(number)) {
        problems.add(
          `position ${index + 1}: event ${id} ${number === undefined ? "isn't of this run" : "is there twice"}`,
        );
        index += 1;
        continue;
      }
      const append = this.#plan.appendOf(number);
      const isWhole = append.numbers.every((one, i) => ids[index + i] === this.#source.id(one));
      if (!isWhole)
        problems.add(
          `position ${index + 1}: an append of ${append.numbers.length} events to "${append.stream}" is torn`,
        );
      this.#inOrder(append, problems);
      this.add(append);
      appends.push(append);
      index += append.numbers.length;
    }
    return appends;
  }

  get count(): number {
    return this.#ids.length;
  }

  /** It's in the log from now on. */
  add({ numbers }: PlannedAppend): void {
    for (const number of numbers) {
      this.#seen.add(number);
      this.#ids.push(this.#source.id(number));
    }
  }

  #inOrder({ numbers, stream }: PlannedAppend, problems: Problems): void {
    const { round, writer, index } = this.#plan.load.place(numbers[0] ?? 0);
    const key = `${round}/${writer}`;
    const next = this.#next.get(key) ?? 0;
    if (index !== next)
      problems.add(`an append of writer ${writer} to "${stream}" comes where its event ${next} should`);
    this.#next.set(key, index + numbers.length);
  }
}
