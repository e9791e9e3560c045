import { cp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import type { Survivor } from "@ehdb/harness";
import { realHost } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { groupNames, groupOfType, isDataOf, outcomeType, sightType } from "./records.ts";
import type { GroupName, JobEvent, Outcome, Sight } from "./records.ts";
import type { KillSettings } from "./settings.ts";
import { openStore } from "./store.ts";
import type { Group, KillStore } from "./store.ts";

/** All leases and delays are over by then. */
const dayMillis = 86_400_000;

/** What a group still has to do: by sequence, how often it was delivered, this time included; 0 for what is parked. */
type Pending = ReadonlyMap<number, number>;

/** What events that aren't jobs say of jobs. */
interface Stated {
  readonly outcomes: ReadonlyMap<number, number>;
  /** Outcomes that come before one of an earlier job of the same key. */
  readonly disordered: ReadonlySet<number>;
  readonly deliveries: ReadonlyMap<number, number>;
}

/** All jobs, and whether they are done with, and all outcomes: of a copy, a day later, with all that is pending delivered to the end. */
export async function* survivorsOf(directory: string, settings: KillSettings): AsyncGenerator<Survivor> {
  // A program that was killed before it made the directory has settled nothing.
  if (!existsSync(directory)) return;
  const copy = `${directory}-copy`;
  await cp(directory, copy, { recursive: true });
  try {
    const host = realHost();
    const store = await openStore(copy, settings, { host: later(host) });
    try {
      yield* survivorsIn(store);
    } finally {
      await store.close();
      await host.workers.close();
    }
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function* survivorsIn({ feed, log }: KillStore): AsyncGenerator<Survivor> {
  const events: JobEvent[] = [];
  for await (const event of log.scan()) events.push(event);
  if (events.length === 0) return;
  const pending = new Map<GroupName, Pending>();
  for (const name of groupNames) pending.set(name, await pendingOf(await feed.group(name), log.position));
  const stated = statedIn(events);
  for (const event of events) {
    const { position, id, type, data } = event;
    const name = groupOfType(type);
    if (type === outcomeType) yield { position, id, intact: !stated.disordered.has(position) };
    if (name === undefined) continue;
    const deliveries = pending.get(name)?.get(position);
    const isDone = deliveries === undefined;
    const outcomes = stated.outcomes.get(position) ?? 0;
    const intact =
      isDataOf(id, data) &&
      outcomes === (isDone && name === "ordered" ? 1 : 0) &&
      (isDone || name === "plain" || deliveries > (stated.deliveries.get(position) ?? 0));
    yield { position, id, intact, isDone };
  }
}

/** Delivers all that there is, and acknowledges it. Throws when the group then isn't at its end. */
async function pendingOf(group: Group, last: number): Promise<Pending> {
  const pending = new Map<number, number>();
  for (;;) {
    const jobs = await group.fetch({ member: "check", limit: 65_536 });
    if (jobs.length === 0) break;
    for (const { sequence, deliveries } of jobs) {
      if (pending.has(sequence)) throw new Error(`${group.name} delivers ${sequence} again after it was acknowledged`);
      pending.set(sequence, deliveries);
    }
    await group.ack(jobs);
  }
  const { committed, delivered, inFlight, waiting, lag } = await group.info();
  if (committed !== last || delivered !== last || inFlight + waiting + lag > 0) {
    const figures = JSON.stringify({ committed, delivered, inFlight, waiting, lag });
    throw new Error(`${group.name} isn't at its end, ${last}, with all acknowledged: ${figures}`);
  }
  for (const { sequence } of await group.parked({ limit: 65_536 })) pending.set(sequence, 0);
  return pending;
}

function statedIn(events: readonly JobEvent[]): Stated {
  const outcomes = new Map<number, number>();
  const disordered = new Set<number>();
  const deliveries = new Map<number, number>();
  const lasts = new Map<string, number>();
  for (const { position, type, data } of events) {
    if (type === sightType) {
      const { job, deliveries: seen } = data as Sight;
      deliveries.set(job, Math.max(seen, deliveries.get(job) ?? 0));
    } else if (type === outcomeType) {
      const { job, key } = data as Outcome;
      outcomes.set(job, 1 + (outcomes.get(job) ?? 0));
      if (job <= (lasts.get(key) ?? 0)) disordered.add(position);
      lasts.set(key, job);
    }
  }
  return { outcomes, disordered, deliveries };
}

function later({ files, random, workers, clock }: Host): Host {
  const moved = {
    now: () => clock.now() + dayMillis,
    monotonic: () => clock.monotonic(),
    timer: clock.timer.bind(clock),
    defer: clock.defer.bind(clock),
    yield: () => clock.yield(),
  };
  return { files, random, workers, clock: moved };
}
