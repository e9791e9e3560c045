import { join } from "node:path";
import type { NewEvent } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import { payloadSeed, seededEvents } from "@ehdb/harness";
import { openEngineReader } from "@ehdb/l0";
import { EVENTS } from "./stage.ts";

const kinds = 1021;
/** What several events of one append take more, each. */
const companyBytes = 8;
/** What an engine puts around key and payload: revision and time, then the operation, and of a log position and version. */
export const logRecordBytes = 40;
export const mapRecordBytes = 24;

/** What stands in an event or a state depends on its stream and version only, so that whoever reads it knows what it must be. */
export class Contents {
  readonly #events: readonly NewEvent[];
  readonly #json: readonly string[];
  readonly #payloadBytes: readonly number[];

  constructor(events: readonly NewEvent[], payloadBytes: readonly number[]) {
    this.#events = events;
    this.#json = events.map(({ data }) => JSON.stringify(data));
    this.#payloadBytes = payloadBytes;
  }

  event(stream: number, version: number): NewEvent {
    return this.#events[kindOf(stream, version)] as NewEvent;
  }

  isEvent(
    stream: number,
    version: number,
    { type, data }: { readonly type: string; readonly data?: unknown },
  ): boolean {
    const kind = kindOf(stream, version);
    return type === this.#events[kind]?.type && JSON.stringify(data) === this.#json[kind];
  }

  /** Encoded, as the record stands in a part: what the part has beside it to find it isn't counted. */
  eventBytes(stream: number, version: number, isInCompany: boolean): number {
    const payload = this.#payloadBytes[kindOf(stream, version)] as number;
    return logRecordBytes + streamName(stream).length + payload + (isInCompany ? companyBytes : 0);
  }

  state(stream: number, version: number): Buffer {
    const json = this.#json[kindOf(stream, version)] as string;
    return Buffer.from(`${version} ${json}`);
  }

  /** The version whose state this is; undefined when it's none of this stream's. */
  versionOfState(stream: number, payload: Uint8Array): number | undefined {
    const text = Buffer.from(payload).toString();
    const version = Number(text.slice(0, text.indexOf(" ")));
    return text === this.state(stream, version).toString() ? version : undefined;
  }

  stateBytes(stream: number, version: number): number {
    return mapRecordBytes + streamName(stream).length + this.state(stream, version).length;
  }
}

export function streamName(stream: number): string {
  return `order-${String(stream).padStart(6, "0")}`;
}

export function streamNumber(name: string): number {
  return Number(name.slice(6));
}

/** Events of about 400 bytes; how many each takes is asked of a small store in a directory of its own. */
export async function measuredContents(directory: string): Promise<Contents> {
  const events: NewEvent[] = seededEvents(payloadSeed, kinds).map(({ type, id: _id, version: _version, ...data }) => ({
    type,
    data,
  }));
  const dir = join(directory, "sizes");
  {
    await using log = await openEventLog({ dir });
    await Promise.all(events.map((event) => log.append("sizes", event)));
  }
  await using reader = await openEngineReader({ dir });
  const bytes: number[] = [];
  for await (const batch of reader.log(EVENTS).scan()) for (const { start, end } of batch) bytes.push(end - start);
  return new Contents(events, bytes);
}

function kindOf(stream: number, version: number): number {
  return (stream * 31 + version * 7) % kinds;
}
