import type { EventLog, EventStream, ReadStreamOptions, RecordedEvent } from "@ehdb/contracts";
import type { EventLogOptions } from "@ehdb/eventlog";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { compareWithReference } from "./model.ts";
import type { Driven } from "./model.ts";

/** Small, so that histories reach beyond it. */
const dedupeWindow = 12;

async function open(given: Partial<EventLogOptions>, sealsAtReopen: boolean): Promise<Driven> {
  const options = { ...given, dedupeWindow };
  const { host, log } = await stage(options);
  let current = log;
  const reopen = async () => {
    if (sealsAtReopen) await current.engine.seal();
    await current.close();
    current = await openOn(host, options);
    return current;
  };
  return { host, log, reopen };
}

/** Says of a stream one event too few, once it has more than one. */
function dropping(log: EventLog): EventLog {
  return new Proxy(log, {
    get: (of, name: keyof EventLog) => {
      if (name === "readStream") {
        return (stream: string, options?: ReadStreamOptions) => withoutSecond(of.readStream(stream, options));
      }
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === "function" ? (value.bind(of) as unknown) : value;
    },
  });
}

async function* withoutSecond(events: EventStream): AsyncGenerator<RecordedEvent> {
  let place = 0;
  for await (const event of events) if (++place !== 2) yield event;
}

const same = { difference: undefined };

describe("the durable event log equals the reference in all that can be read, after every step of a random history", () => {
  test("across reopens, unsealed", async () => {
    const report = await compareWithReference({
      open: () => open({}, false),
      dedupeWindow,
      seed: 11,
      histories: 40,
      steps: 30,
    });
    expect(report).toMatchObject({ ...same, histories: 40 });
    expect(report.comparisons).toBeGreaterThan(300);
  });

  test("across reopens, when every few commits make parts", async () => {
    const sealing = { sealMaxCommits: 3 };
    const report = await compareWithReference({
      open: () => open(sealing, true),
      dedupeWindow,
      seed: 12,
      histories: 20,
      steps: 30,
    });
    expect(report).toMatchObject({ ...same, histories: 20 });
    expect(report.comparisons).toBeGreaterThan(150);
  });

  test("and a log that leaves out an event is found, with the history that shows it", async () => {
    const { difference } = await compareWithReference({
      open: async () => {
        const driven = await open({}, false);
        return { ...driven, log: dropping(driven.log) };
      },
      dedupeWindow,
      seed: 13,
      histories: 40,
      steps: 30,
    });
    expect(difference).toContain("the log says");
  });
});
