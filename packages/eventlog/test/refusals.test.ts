import {
  type EventLog,
  type EventLogCapability,
  eventLogRules,
  EhdbError,
  type EventLogSubject,
  runConformance,
} from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";

const all: readonly EventLogCapability[] = ["dedupe", "truncation", "consumers", "reclaim", "import", "persistence"];

/** A driver that can do without one thing: each of the methods given is replaced. */
function lacking(log: EventLog, methods: Partial<EventLog>): EventLog {
  return new Proxy(log, {
    get: (target, name): unknown => {
      const method: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof method === "function" ? (method.bind(target) as unknown) : method;
    },
  });
}

const unsupported = (what: string): EhdbError => new EhdbError("UNSUPPORTED", `this driver has no ${what}`);
const rejects = (what: string) => (): Promise<never> => Promise.reject(unsupported(what));

/** What a driver without a capability does in its place. */
const substitutes: Readonly<Record<EventLogCapability, (log: EventLog) => Partial<EventLog>>> = {
  dedupe: (log) => ({
    append: async (stream, events, options) => {
      const { expect = "any" } = options ?? {};
      const hasId = [events]
        .flat()
        .some((event) => typeof event === "object" && event !== null && event.id !== undefined);
      if (hasId && (expect === "any" || expect === "exists")) throw unsupported("dedupe window");
      return log.append(stream, events, options);
    },
  }),
  truncation: () => ({ truncateStream: rejects("truncation"), deleteStream: rejects("truncation") }),
  consumers: () => ({
    consumer: () => {
      throw unsupported("consumers");
    },
    consumers: rejects("consumers"),
  }),
  reclaim: () => ({ reclaim: rejects("reclaim") }),
  import: () => ({ import: rejects("import") }),
  persistence: () => ({}),
};

async function open(capability: EventLogCapability, substitute: boolean): Promise<EventLogSubject> {
  const host = simulatedHost({ seed: 1 });
  const again = async (): Promise<EventLogSubject> => {
    const keeps = !(substitute && capability === "persistence");
    const log = await referenceEventLog({ host, dedupeWindow: 64, ...(keeps ? { file: "/log/events.jsonl" } : {}) });
    const subject = { dedupeWindow: 64, advance: (millis: number) => host.advance(millis), reopen: again };
    return { ...subject, log: substitute ? lacking(log, substitutes[capability](log)) : log };
  };
  return again();
}

describe.each(all)("rules that need %s", (capability) => {
  const rules = eventLogRules.filter((rule) => rule.needs.includes(capability));
  const others = new Set(all.filter((one) => one !== capability));

  test("hold in the opposite for a driver that lacks it and says so", async () => {
    const outcomes = await runConformance(rules, others, () => open(capability, true));
    const wrong = outcomes.filter(({ outcome }) => outcome !== "refused as declared");
    expect(wrong).toEqual([]);
    expect(rules.length).toBeGreaterThan(3);
  });

  test("are all that need it", async () => {
    const rest = eventLogRules.filter((rule) => !rule.needs.includes(capability));
    const outcomes = await runConformance(rest, others, () => open(capability, true));
    expect(outcomes.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  });

  test("fail a driver that says so and does it all the same", async () => {
    const outcomes = await runConformance(rules, others, () => open(capability, false));
    expect([...new Set(outcomes.map(({ outcome }) => outcome))]).toEqual(["failed"]);
  });

  test("fail a driver that lacks it and doesn't say so", async () => {
    const outcomes = await runConformance(rules, new Set(all), () => open(capability, true));
    expect([...new Set(outcomes.map(({ outcome }) => outcome))]).toEqual(["failed"]);
  });
});
