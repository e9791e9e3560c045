import { EhdbError } from "../errors.ts";
import type { EventLog, EventLogCapability } from "../event-log.ts";
import type { EventLogSubject } from "./subject.ts";

type Refusal = (log: EventLog, subject: EventLogSubject) => Promise<void>;

/** What a driver must do that lacks a capability. Each throws when it doesn't. */
export const refusals: Readonly<Record<EventLogCapability, Refusal>> = {
  dedupe: async (log) => {
    const event = { id: "an id", type: "placed" };
    await unsupported("append with an id and `any`", () => log.append("s", event));
    await log.append("s", { type: "placed" });
    await unsupported("append with an id and `exists`", () => log.append("s", event, { expect: "exists" }));
    if (log.position !== 1) throw new Error("an append that isn't supported was stored");
  },
  truncation: async (log) => {
    await log.append("s", { type: "placed" });
    await unsupported("truncateStream", () => log.truncateStream("s", 2));
    await unsupported("deleteStream", () => log.deleteStream("s"));
  },
  consumers: async (log) => {
    await unsupported("consumer", () => log.consumer("c"));
    await unsupported("consumers", () => log.consumers());
  },
  reclaim: async (log) => {
    await unsupported("reclaim", () => log.reclaim({ maxEvents: 1 }));
  },
  import: async (log) => {
    await unsupported("import", () => log.import([]));
  },
  persistence: async (log, subject) => {
    await log.append("s", { type: "placed" });
    await log.close();
    const again = await subject.reopen();
    const { position } = again.log;
    await again.log.close();
    if (position !== 0) throw new Error(`a log that doesn't persist ended at ${position} when it was opened again`);
  },
};

async function unsupported(what: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (error instanceof EhdbError && error.code === "UNSUPPORTED") return;
    throw new Error(`${what}: ${String(error)} instead of UNSUPPORTED`, { cause: error });
  }
  throw new Error(`${what}: went well instead of UNSUPPORTED`);
}
