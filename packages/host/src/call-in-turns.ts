import type { Clock } from "./host.ts";

/** What is done by whoever is called is done in the same turn of the event loop: so many of them don't hold it up for long. */
const calledAtOnce = 96;

/** Calls some now, and the others some at a time, with a turn of the loop between. */
export async function callInTurns(clock: Clock, calls: readonly (() => void)[]): Promise<void> {
  for (let called = 0; called < calls.length;) {
    if (called > 0) await clock.yield();
    const next = Math.min(called + calledAtOnce, calls.length);
    while (called < next) (calls[called++] as () => void)();
  }
}
