import type { LogDataset, StreamInfo } from "@ehdb/contracts";
import type { LogContext } from "./log-context.ts";
import { isDeleted } from "./stream-facts.ts";
import type { StreamFacts } from "./stream-facts.ts";
import { firstReadable } from "./stream-records.ts";

export interface StreamState {
  readonly version: number;
  readonly facts: StreamFacts;
}

/** Where streams are looked up. */
export interface StreamLookups extends Pick<LogContext, "streams"> {
  readonly events: Pick<LogDataset, "read" | "version">;
}

export async function streamState({ events, streams }: StreamLookups, stream: string): Promise<StreamState> {
  const facts = await streams.load(stream);
  const version = await events.version(stream);
  if (facts.deletedAt > 0 && version > facts.deletedAt) facts.isBack = true;
  return { version, facts };
}

/** Of one moment, although it's looked up in several places while others append, truncate and reclaim. */
export async function streamInfo(lookups: StreamLookups, stream: string): Promise<StreamInfo> {
  const { events, streams } = lookups;
  for (;;) {
    const { version, facts } = await streamState(lookups, stream);
    const firstVersion = await firstReadable(events, stream, facts.firstVersion);
    const { revision } = await streams.load(stream);
    // What a salvage brought back may be hidden beyond its end.
    const isWithin = firstVersion <= version + 1 || (await events.version(stream)) === version;
    if (isWithin && revision === facts.revision)
      return { stream, version, firstVersion, isDeleted: isDeleted(facts, version) };
  }
}
