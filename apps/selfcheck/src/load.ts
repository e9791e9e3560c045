import type { Clock } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import { throwIfAborted } from "@ehdb/contracts";
import type { EventSource } from "./event-source.ts";
import type { LoadPlan } from "./load-plan.ts";
import { runWriters } from "./writers.ts";

/** One append that resolved: the events are on disk. */
export interface Acknowledged {
  readonly numbers: readonly number[];
  /** The sequence of the first; the others follow it. */
  readonly sequence: number;
  readonly millis: number;
}

export interface LoadOptions {
  readonly journal: Journal;
  readonly source: EventSource;
  readonly plan: LoadPlan;
  readonly round: number;
  readonly clock: Clock;
  readonly onAcknowledged: (append: Acknowledged) => void;
  readonly signal?: AbortSignal;
}

/** All writers of a plan at once, until they are through. The first error stops them all. */
export async function runLoad(options: LoadOptions): Promise<void> {
  await runWriters(options.plan.writers, options.signal, (writer, signal) => write(options, writer, signal));
}

async function write(options: LoadOptions, writer: number, signal: AbortSignal): Promise<void> {
  const { journal, source, plan, round, clock } = options;
  const grouped = plan.groupOf(writer) > 1;
  for (let turn = 0; ; turn++) {
    throwIfAborted(signal, "appending");
    const numbers = plan.numbers(round, writer, turn);
    if (numbers.length === 0) return;
    const records = numbers.map((number) => source.bytes(number));
    const started = clock.monotonic();
    const sequence = grouped
      ? (await journal.appendAllDurable(records, { signal })).first
      : await journal.appendDurable(records[0] as Uint8Array, { signal });
    options.onAcknowledged({ numbers, sequence, millis: clock.monotonic() - started });
  }
}
