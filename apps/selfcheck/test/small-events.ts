import { realHost } from "@ehdb/host";
import { EventSource } from "../src/event-source.ts";
import { defaults } from "../src/options.ts";
import type { VerbContext } from "../src/verb.ts";

/** Events of a few streams and types, small enough for a test to make thousands of them. */
export function smallEvents(seed = 7): EventSource {
  const payloads = Array.from({ length: 21 }, (_, i) => ({
    // Most are of one, as in life.
    stream: i % 3 === 0 ? `stream-${i % 4}` : "busy",
    type: `type-${i % 5}`,
    data: Buffer.from(JSON.stringify({ payload: i, text: "ü".repeat(i) })),
  }));
  return new EventSource(seed, payloads);
}

/** As much of a verb's context as comparing takes. */
export const quietContext = {
  host: realHost(),
  options: { ...defaults, strict: false, keep: false },
  signal: new AbortController().signal,
  progress: () => undefined,
} as unknown as VerbContext;
