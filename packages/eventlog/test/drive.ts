import { type EventLogSubject, KIB } from "@ehdb/contracts";
import { type DurableEventLog, type EventLogOptions, openEventLog } from "@ehdb/eventlog";
import { type SimulatedHost, simulatedHost } from "@ehdb/host";

export const dedupeWindow = 64;

export interface Stage {
  readonly host: SimulatedHost;
  readonly log: DurableEventLog;
}

/** A log on a simulated machine of its own. */
export async function stage(options: Partial<EventLogOptions> = {}, seed = 1): Promise<Stage> {
  const host = simulatedHost({ seed });
  return { host, log: await openOn(host, options) };
}

/** The same directory again, on what is left of the machine. */
export async function openOn(host: SimulatedHost, options: Partial<EventLogOptions> = {}): Promise<DurableEventLog> {
  return await openEventLog({ dir: "/log", host, dedupeWindow, sealMaxBytes: 64 * KIB, ...options });
}

/** For the rules of the contract: the clock stands still until a rule moves it. */
export async function subject(
  options: Partial<EventLogOptions> = {},
  host: SimulatedHost = simulatedHost({ seed: 1 }),
): Promise<EventLogSubject> {
  const log = await openOn(host, options);
  return {
    log,
    dedupeWindow,
    advance: (millis) => host.advance(millis),
    reopen: () => subject(options, host),
  };
}
