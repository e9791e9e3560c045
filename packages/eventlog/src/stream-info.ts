import type { StreamInfo } from "@ehdb/contracts";
import type { LogContext } from "./log-context.ts";
import { isDeleted } from "./stream-facts.ts";
import type { StreamFacts } from "./stream-facts.ts";
import { firstReadable } from "./stream-records.ts";

export interface StreamState {
  readonly version: number;
  readonly facts: StreamFacts;
}

export async function streamState({ events, streams }: LogContext, stream: string): Promise<StreamState> {
  const facts = await streams.load(stream);
  const version = await events.version(stream);
  if (facts.deletedAt > 0 && version > facts.deletedAt) facts.isBack = true;
  return { version, facts };
}

export async function streamInfo(context: LogContext, stream: string): Promise<StreamInfo> {
  const { version, facts } = await streamState(context, stream);
  const { events } = context;
  const firstVersion = await firstReadable(events, stream, facts.firstVersion);
  return { stream, version, firstVersion, isDeleted: isDeleted(facts, version) };
}
