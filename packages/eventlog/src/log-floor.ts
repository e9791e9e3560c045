import type { MapDataset } from "@ehdb/contracts";
import type { DurableEngine } from "@ehdb/l0";
import { dataset } from "./datasets.ts";
import { decodeNumbers, encodeNumbers } from "./map-values.ts";

const key = "reclaimed";

/** The first position that can be read. It's durable before it shows, and never falls. */
export class LogFloor {
  readonly #engine: DurableEngine;
  readonly #map: MapDataset;
  #firstPosition = 1;
  /** Of the engine's reopens: one may have brought a floor that nobody knew the outcome of. */
  #epoch = 0;

  constructor(engine: DurableEngine) {
    this.#engine = engine;
    this.#map = engine.map(dataset.log);
  }

  get firstPosition(): number {
    return this.#firstPosition;
  }

  /** Looks it up when it may have changed by more than `raise`. */
  async settle(): Promise<void> {
    const { epoch } = this.#engine.recovery;
    if (epoch === this.#epoch) return;
    const record = await this.#map.get(key);
    const [position] = record === undefined ? [1] : (decodeNumbers(record, dataset.log, 1) as [number]);
    this.#firstPosition = Math.max(this.#firstPosition, position);
    this.#epoch = epoch;
  }

  async raise(firstPosition: number): Promise<void> {
    await this.#engine.commit((batch) => batch.put(dataset.log, key, encodeNumbers(firstPosition)));
    await this.#engine.flush();
    this.#firstPosition = Math.max(this.#firstPosition, firstPosition);
  }
}
