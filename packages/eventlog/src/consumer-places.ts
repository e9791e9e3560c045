import { isEhdbError } from "@ehdb/contracts";
import type { ConsumerInfo, LogDataset, MapDataset, MapRecord, WriteBatch } from "@ehdb/contracts";
import type { DurableEngine } from "@ehdb/l0";
import { dataset } from "./datasets.ts";
import { decodeNumbers, encodeNumbers } from "./map-values.ts";
import { beyondTheEnd } from "./refusals.ts";

/** Acks of a consumer that are committed together, or its delete. */
interface Change {
  /** What is acknowledged; `undefined`: the consumer is deleted. */
  position: number | undefined;
  hasBegun: boolean;
  readonly done: Promise<number>;
}

/** How far each consumer is. Acks of one that come while another is on its way are committed as one. */
export class ConsumerPlaces {
  readonly #engine: DurableEngine;
  readonly #events: LogDataset;
  readonly #map: MapDataset;
  /** The newest change of each consumer that has one on its way. */
  readonly #newest = new Map<string, Change>();

  constructor(engine: DurableEngine, events: LogDataset) {
    this.#engine = engine;
    this.#events = events;
    this.#map = engine.map(dataset.consumers);
  }

  async committed(name: string): Promise<number> {
    return placeOf(await this.#map.get(name)) ?? 0;
  }

  list(): Promise<ConsumerInfo[]> {
    return consumersIn(this.#map, this.#events);
  }

  async ack(name: string, position: number): Promise<number> {
    const { last } = this.#events;
    if (position > last) throw beyondTheEnd(position, last);
    const newest = this.#newest.get(name);
    if (newest === undefined || newest.hasBegun || newest.position === undefined) {
      return await this.#change(name, position);
    }
    newest.position = Math.max(newest.position, position);
    return await newest.done;
  }

  async delete(name: string): Promise<void> {
    await this.#change(name, undefined);
  }

  /** Resolves when nothing that was called before is on its way. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#newest.values()].map(({ done }) => done));
  }

  #change(name: string, position: number | undefined): Promise<number> {
    const before = this.#newest.get(name)?.done ?? Promise.resolve();
    const run = async (): Promise<number> => {
      change.hasBegun = true;
      try {
        return await this.#commit(name, change.position);
      } finally {
        if (this.#newest.get(name) === change) this.#newest.delete(name);
      }
    };
    const change: Change = { position, hasBegun: false, done: before.then(run, run) };
    this.#newest.set(name, change);
    return change.done;
  }

  /** Returns what is committed then. */
  async #commit(name: string, position: number | undefined): Promise<number> {
    for (;;) {
      const record = await this.#map.get(name);
      const committed = placeOf(record);
      if (position === undefined ? committed === undefined : committed !== undefined && committed >= position) {
        return committed ?? 0;
      }
      try {
        await this.#engine.commit((batch: WriteBatch) => {
          batch.expect(dataset.consumers, name, record?.revision ?? "none");
          if (position === undefined) batch.delete(dataset.consumers, name);
          else batch.put(dataset.consumers, name, encodeNumbers(position));
        });
        return position ?? 0;
      } catch (error) {
        if (!isEhdbError(error, "CONFLICT")) throw error;
      }
    }
  }
}

/** All that are known, in order of their names. */
export async function consumersIn(map: MapDataset, events: LogDataset): Promise<ConsumerInfo[]> {
  const list: ConsumerInfo[] = [];
  for await (const records of map.scan()) {
    for (const record of records) {
      const committed = placeOf(record) as number;
      list.push({ name: record.key, committed, lag: events.last - committed });
    }
  }
  return list.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function placeOf(record: MapRecord | undefined): number | undefined {
  return record === undefined ? undefined : decodeNumbers(record, dataset.consumers, 1)[0];
}
