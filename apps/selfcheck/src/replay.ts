import { join } from "node:path";
import type { Journal } from "@ehdb/journal";
import type { Checks } from "./checks.ts";
import { mibPerSecond, perSecond } from "./figures.ts";
import { replayLevel, STATED_EVENT_BYTES } from "./levels.ts";
import type { Level } from "./report.ts";
import type { VerbContext } from "./verb.ts";

const STATED_EVENTS = 50_000;
const GROUP_EVENTS = 500;

interface Expected {
  readonly events: number;
  readonly bytes: number;
  readonly level?: Level;
}

/** The log's own speed: every byte is read and verified, and the events are counted, not looked at. */
export async function replayAll(
  { host, signal }: VerbContext,
  checks: Checks,
  name: string,
  journal: Journal,
  expected: Expected,
): Promise<void> {
  let [events, bytes] = [0, 0];
  const started = host.clock.monotonic();
  for await (const records of journal.scan({ signal }).batches()) {
    events += records.length;
    for (const record of records) bytes += record.data.length;
  }
  const millis = host.clock.monotonic() - started;
  const ok = events === expected.events && bytes === expected.bytes;
  const message = ok
    ? `${mibPerSecond(bytes, millis)} MiB/s`
    : `${expected.events} events of ${expected.bytes} bytes were appended, and ${bytes} bytes came back`;
  const figure = { count: events, value: perSecond(events, millis), unit: "events/s", ok, message };
  checks.step(expected.level === undefined ? { name, ...figure } : { name, ...figure, level: expected.level });
}

/** The service level is stated for small events, so they are what is held against it: written in groups, then replayed. */
export async function replayStatedLoad(context: VerbContext, checks: Checks): Promise<void> {
  const { host } = context;
  const journal = await context.openJournal({ dir: join(context.directory, "small"), host });
  try {
    for (let appended = 0; appended < STATED_EVENTS; appended += GROUP_EVENTS) {
      const group = host.random.bytes(GROUP_EVENTS * STATED_EVENT_BYTES);
      const records = Array.from({ length: GROUP_EVENTS }, (_, i) =>
        group.subarray(i * STATED_EVENT_BYTES, (i + 1) * STATED_EVENT_BYTES),
      );
      await journal.appendAllDurable(records, { signal: context.signal });
      context.progress(appended + GROUP_EVENTS, STATED_EVENTS);
    }
    const bytes = STATED_EVENTS * STATED_EVENT_BYTES;
    const name = `replay of events of ${STATED_EVENT_BYTES} bytes`;
    await replayAll(context, checks, name, journal, { events: STATED_EVENTS, bytes, level: replayLevel });
  } finally {
    await journal.close();
  }
}
