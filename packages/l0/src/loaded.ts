import type { Dataset } from "./dataset.ts";
import type { KnownId } from "./log-table.ts";

/**
 * What one write had loaded from parts, kept for it however little the caches hold: what is looked for is found at its next try. It
 * counts only as long as the parts are the ones it was loaded from.
 */
export class Loaded {
  #partsVersion = -1;
  #heads: Map<string, number> | undefined;
  #ids: Map<string, KnownId | null> | undefined;

  head(dataset: Dataset, key: string, partsVersion: number): number | undefined {
    return this.#partsVersion === partsVersion ? this.#heads?.get(scoped(dataset, key)) : undefined;
  }

  id(dataset: Dataset, key: string, id: string, partsVersion: number): KnownId | null | undefined {
    return this.#partsVersion === partsVersion ? this.#ids?.get(scoped(dataset, key, id)) : undefined;
  }

  setHead(dataset: Dataset, key: string, head: number, partsVersion: number): void {
    this.#turnTo(partsVersion);
    (this.#heads ??= new Map()).set(scoped(dataset, key), head);
  }

  setId(dataset: Dataset, key: string, id: string, known: KnownId | null, partsVersion: number): void {
    this.#turnTo(partsVersion);
    (this.#ids ??= new Map()).set(scoped(dataset, key, id), known);
  }

  #turnTo(partsVersion: number): void {
    if (this.#partsVersion === partsVersion) return;
    this.#partsVersion = partsVersion;
    this.#heads = undefined;
    this.#ids = undefined;
  }
}

function scoped(dataset: Dataset, key: string, id = ""): string {
  return `${dataset.id} ${id}\0${key}`;
}
