import type { ConsumerInfo, EventLog, MapDataset, StreamInfo } from "@ehdb/contracts";
import { keptBeside } from "./beside.ts";
import type { AppendCall } from "./calls.ts";
import { contentOf, seen } from "./events.ts";
import type { Seen } from "./events.ts";

/** All that a log shows after a recovery. */
export class Found {
  readonly epoch: number;
  readonly position: number;
  readonly firstPosition: number;
  readonly consumers: readonly ConsumerInfo[];
  readonly infos: ReadonlyMap<string, StreamInfo>;
  readonly events: readonly Seen[];
  /** Some streams, read by themselves. */
  readonly streams: ReadonlyMap<string, readonly Seen[]>;
  /** What somebody else keeps in the log's engine. */
  readonly beside: ReadonlyMap<string, string>;

  private constructor(found: Omit<Found, "timeOf">) {
    this.epoch = found.epoch;
    this.position = found.position;
    this.firstPosition = found.firstPosition;
    this.consumers = found.consumers;
    this.infos = found.infos;
    this.events = found.events;
    this.streams = found.streams;
    this.beside = found.beside;
  }

  static async in(
    log: EventLog,
    names: readonly string[],
    read: readonly string[],
    other?: MapDataset,
  ): Promise<Found> {
    const events: Seen[] = [];
    for await (const batch of log.scan().batches()) events.push(...batch.map(seen));
    const infos = new Map<string, StreamInfo>();
    for (const name of names) infos.set(name, await log.streamInfo(name));
    const streams = new Map<string, readonly Seen[]>();
    for (const name of read) {
      const all: Seen[] = [];
      for await (const event of log.readStream(name)) all.push(seen(event));
      streams.set(name, all);
    }
    const beside = other === undefined ? new Map<string, string>() : await keptBeside(other);
    const { epoch, position, firstPosition } = log;
    return new Found({
      epoch,
      position,
      firstPosition,
      consumers: await log.consumers(),
      infos,
      events,
      streams,
      beside,
    });
  }

  /** When this append was done, if it stands at a position. */
  timeOf({ stream, events }: AppendCall, position: number): number | undefined {
    const start = this.events.findIndex((event) => event.position === position);
    if (start < 0) return undefined;
    const isThere = events.every((event, place) => {
      const one = this.events[start + place];
      if (one === undefined || one.position !== position + place || one.stream !== stream) return false;
      return one.content === contentOf(event) && (event.id === undefined || event.id === one.id);
    });
    return isThere ? this.events[start]?.time : undefined;
  }
}
