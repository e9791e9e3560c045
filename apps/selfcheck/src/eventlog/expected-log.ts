import type { EventLog, StreamInfo } from "@ehdb/contracts";
import type { EventSource } from "../event-source.ts";
import { newFinding } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { isAsAppended, notAsAppended, placeOf } from "./event-content.ts";
import type { EventPlace } from "./event-content.ts";

export interface ExpectedStream {
  readonly info: StreamInfo;
  readonly events: readonly EventPlace[];
}

/** What a log must say: all that can be read, in order of position, and each stream in order of version. */
export interface ExpectedLog {
  readonly position: number;
  readonly firstPosition: number;
  readonly events: readonly EventPlace[];
  readonly streams: readonly ExpectedStream[];
}

/** Asks the reference for everything. */
export async function expectedOf(reference: EventLog, source: EventSource): Promise<ExpectedLog> {
  const events: EventPlace[] = [];
  for await (const event of reference.scan()) events.push(placeOf(event));
  const streams: ExpectedStream[] = [];
  for (const stream of source.streams) {
    const ofStream: EventPlace[] = [];
    for await (const event of reference.readStream(stream)) ofStream.push(placeOf(event));
    streams.push({ info: await reference.streamInfo(stream), events: ofStream });
  }
  const { position, firstPosition } = reference;
  return { position, firstPosition, events, streams };
}

/** The reference itself, against the events' own bytes, which no driver has touched. */
export async function checkReference(reference: EventLog, source: EventSource): Promise<Finding> {
  const finding = newFinding();
  for await (const event of reference.scan()) {
    finding.count += 1;
    if (!isAsAppended(event, source)) finding.problems.add(notAsAppended(event));
  }
  return finding;
}
