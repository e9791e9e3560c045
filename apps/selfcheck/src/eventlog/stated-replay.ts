import { join } from "node:path";
import type { Checks } from "../checks.ts";
import { perSecond } from "../figures.ts";
import { replayLevel, STATED_EVENT_BYTES } from "../levels.ts";
import type { VerbContext } from "../verb.ts";

const STATED_EVENTS = 50_000;
const GROUP_EVENTS = 500;
const STREAMS = 100;
/** With what stands around it in JSON, an event's data has `STATED_EVENT_BYTES`. */
const TEXT = "x".repeat(STATED_EVENT_BYTES - '{"number":10000,"text":""}'.length);

/** The service level is stated for small events: written in groups, then the log is opened again and all of it read and decoded. */
export async function replayStatedEvents(context: VerbContext, checks: Checks): Promise<void> {
  const { host, signal } = context;
  const options = { dir: join(context.directory, "small"), host };
  const writer = await context.openEventLog(options);
  try {
    for (let first = 0; first < STATED_EVENTS; first += GROUP_EVENTS) {
      const events = Array.from({ length: GROUP_EVENTS }, (_, i) => ({
        type: "stated",
        data: { number: first + i, text: TEXT },
      }));
      await writer.append(`stream-${(first / GROUP_EVENTS) % STREAMS}`, events, { signal });
      context.progress(first + GROUP_EVENTS, STATED_EVENTS);
    }
  } finally {
    await writer.close();
  }
  const log = await context.openEventLog(options);
  try {
    let [count, sum] = [0, 0];
    const started = host.clock.monotonic();
    for await (const events of log.scan({ signal }).batches()) {
      count += events.length;
      for (const event of events) sum += (event.data as { readonly number: number }).number;
    }
    const millis = host.clock.monotonic() - started;
    checks.step({
      name: `replay of events of ${STATED_EVENT_BYTES} bytes, decoded`,
      count,
      value: perSecond(count, millis),
      unit: "events/s",
      level: replayLevel,
      ok: count === STATED_EVENTS && sum === (STATED_EVENTS * (STATED_EVENTS - 1)) / 2,
    });
  } finally {
    await log.close();
  }
}
