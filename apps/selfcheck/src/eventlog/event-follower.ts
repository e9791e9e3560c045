import { isEhdbError } from "@ehdb/contracts";
import type { EventLog } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import type { EventSource } from "../event-source.ts";
import type { Finding } from "../finding.ts";
import { Problems } from "../problems.ts";
import { isAsAppended, notAsAppended, placeOf } from "./event-content.ts";
import type { EventPlace } from "./event-content.ts";
import { ExpectedOrder } from "./expected-order.ts";

/** Whoever follows gets all that is there within so long, or isn't following. */
const PATIENCE_MILLIS = 60_000;

const DECODED_AT_ONCE = 16;

/** A subscription that reads beside the writers, from the first event on. */
export class EventFollower {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #seen: EventPlace[] = [];
  readonly #problems = new Problems();
  readonly #ended: Promise<void>;
  #caughtUp = 0;
  #target = Infinity;

  /** `source`: the bytes are compared too. */
  constructor(log: EventLog, clock: Clock, signal: AbortSignal, source?: EventSource) {
    this.#clock = clock;
    this.#signal = signal;
    this.#ended = this.#follow(log, source);
    // Whoever cancels has an error of its own to tell.
    this.#ended.catch(() => undefined);
  }

  cancel(): void {
    this.#stop.abort();
  }

  /** Once all up to the log's end was delivered: each event must have come, in order, once. */
  async compare(expected: readonly EventPlace[], position: number): Promise<Finding> {
    const problems = this.#problems;
    this.#target = position;
    const patience = this.#clock.timer(PATIENCE_MILLIS, () => {
      problems.add(`${PATIENCE_MILLIS / 1000} s after the last append it is at ${this.#caughtUp} of ${position}`);
      this.cancel();
    });
    this.#endWhenThere();
    try {
      await this.#ended;
    } catch (error) {
      if (!isEhdbError(error, "ABORTED") || this.#signal.aborted) throw error;
    } finally {
      patience.cancel();
    }
    const order = new ExpectedOrder(expected, problems);
    for (const event of this.#seen) order.see(event);
    order.finish();
    return { count: order.seen, problems };
  }

  async #follow(log: EventLog, source: EventSource | undefined): Promise<void> {
    const subscription = log.subscribe({
      signal: AbortSignal.any([this.#signal, this.#stop.signal]),
      onCaughtUp: ({ position }) => {
        this.#caughtUp = position;
        this.#endWhenThere();
      },
    });
    for await (const events of subscription.batches()) {
      for (const event of events) {
        this.#seen.push(placeOf(event));
        if (source === undefined) continue;
        if (!isAsAppended(event, source)) this.#problems.add(notAsAppended(event));
        // Whoever writes beside it must not wait until many large events are decoded.
        if (this.#seen.length % DECODED_AT_ONCE === 0) await this.#clock.yield();
      }
    }
  }

  #endWhenThere(): void {
    if (this.#caughtUp >= this.#target) this.#stop.abort();
  }
}
