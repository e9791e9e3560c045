import { isEhdbError } from "@ehdb/contracts";
import type { GroupOptions } from "@ehdb/contracts";
import { eventLogOn } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import { eventLogSource, feedOn } from "@ehdb/feed";
import type { EngineConsumerGroup, EngineFeed } from "@ehdb/feed";
import { realHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { jobType } from "./records.ts";
import type { GroupName, JobEvent } from "./records.ts";
import { engineOptions } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

export type Group = EngineConsumerGroup<JobEvent>;

/** Jobs and groups, in one engine. */
export interface KillStore {
  readonly engine: DurableEngine;
  readonly log: DurableEventLog;
  readonly feed: EngineFeed<JobEvent>;
  close(): Promise<void>;
}

export async function openStore(
  directory: string,
  settings: KillSettings,
  { host = realHost(), durability = "sync" }: Pick<EngineOptions, "host" | "durability"> = {},
): Promise<KillStore> {
  const engine = await openEngine({ ...engineOptions(directory, settings), host, durability });
  const log = await eventLogOn(engine, { host });
  const feed = await feedOn(engine, { source: eventLogSource(log), host });
  const close = async (): Promise<void> => {
    await feed.close();
    await log.close();
    await engine.close();
  };
  return { engine, log, feed, close };
}

/** Short leases: those of who was killed are over soon. */
const shared = { leaseSeconds: 0.15 };
const options: Readonly<Record<GroupName, GroupOptions>> = {
  plain: { ...shared, subjects: [jobType("plain")], maxDeliver: 4 },
  ordered: { ...shared, subjects: [jobType("ordered")], maxDeliver: Infinity, order: "key" },
};

export async function openGroup(feed: EngineFeed<JobEvent>, name: GroupName): Promise<Group> {
  try {
    return await feed.group(name);
  } catch (error) {
    if (!isEhdbError(error, "NOT_FOUND")) throw error;
    return await feed.createGroup(name, options[name]);
  }
}
