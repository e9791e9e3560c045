import { once } from "node:events";
import { SelfcheckError } from "./outcome.ts";

/**
 * Waits for `work`, and rejects when the process would end before it: nothing is under way any more, and something still
 * waits. Node would leave then without a word and without cleaning up.
 */
export async function orStall<T>(work: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const stalled = once(process, "beforeExit", { signal: settled.signal }).then(() => {
    throw new SelfcheckError(
      "unavailable",
      "it waits for something that never comes: no write, sync or timer is under way",
    );
  });
  // The abort below rejects it, and nobody listens then.
  stalled.catch(() => undefined);
  try {
    return await Promise.race([work, stalled]);
  } finally {
    settled.abort();
  }
}
