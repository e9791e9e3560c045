import { throwIfAborted } from "@ehdb/contracts";
import type { FeedMessage } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import type { FetchRequest } from "./call-options.ts";

interface Fetching<R> {
  readonly clock: Clock;
  /** What there is now. */
  readonly fetch: () => Promise<readonly FeedMessage<R>[]>;
  /** Resolves when there may be more, after so many milliseconds at most. */
  readonly wait: (millis: number) => Promise<void>;
}

/** Fetches until there is something, or the time is over. */
export async function fetchInTime<R>(
  { waitMillis, signal }: FetchRequest,
  { clock, fetch, wait }: Fetching<R>,
): Promise<readonly FeedMessage<R>[]> {
  const end = clock.monotonic() + waitMillis;
  for (;;) {
    throwIfAborted(signal, "fetch()");
    const messages = await fetch();
    const left = end - clock.monotonic();
    if (messages.length > 0 || left <= 0) return messages;
    await wait(left);
  }
}
