import type { DatasetSpec } from "@ehdb/contracts";
import { Dataset } from "./dataset.ts";
import { Generation } from "./generation.ts";
import type { DatasetMeta } from "./meta.ts";
import { LogPart } from "./part/log-part.ts";
import type { MapPart } from "./part/map-part.ts";
import type { Parts, View } from "./view.ts";

/** What an engine has in memory, from a recovery to the next: datasets, and the view of now. */
export class Store {
  readonly datasets: Map<string, Dataset> = new Map();
  readonly byId: Map<number, Dataset> = new Map();
  /** Logs that an import fills: nothing else may write to them. */
  readonly importing: Set<Dataset> = new Set();
  #view: View;

  constructor(
    metas: readonly DatasetMeta[],
    specs: readonly DatasetSpec[],
    parts: Parts,
    nextRevision: number,
    partsVersion = 0,
  ) {
    const wanted = new Set(specs.map((spec) => spec.name));
    for (const meta of metas) {
      const dataset = new Dataset(meta, meta.nextSort);
      this.byId.set(dataset.id, dataset);
      if (wanted.has(dataset.name)) this.datasets.set(dataset.name, dataset);
    }
    this.#view = { parts, generations: [new Generation(nextRevision)], partsVersion };
  }

  get view(): View {
    return this.#view;
  }

  /** Where commits go. */
  get active(): Generation {
    return this.#view.generations.at(-1) as Generation;
  }

  /** Full, and on their way to be sealed. */
  get frozen(): readonly Generation[] {
    return this.#view.generations.slice(0, -1);
  }

  get frozenCount(): number {
    return this.#view.generations.length - 1;
  }

  get accepted(): number {
    return this.active.lastRevision;
  }

  /** The active generation takes nothing more; another one does. */
  freeze(): void {
    const { generations, ...rest } = this.#view;
    this.#view = { ...rest, generations: [...generations, new Generation(this.accepted + 1)] };
  }

  /** In one step: what a log without records got from an import, in these parts. */
  imported(dataset: Dataset, parts: readonly LogPart[], nextSort: number): void {
    this.sealed(0, parts);
    dataset.nextSort = nextSort;
    // None of them was known.
    dataset.heads.clear();
    dataset.fills++;
  }

  /** In one step: what was in these generations, the oldest ones, is now in these parts. */
  sealed(count: number, added: readonly (LogPart | MapPart)[]): void {
    const logs = new Map(this.#view.parts.logs);
    const maps = new Map(this.#view.parts.maps);
    for (const part of added) {
      const { dataset } = part.meta;
      if (part instanceof LogPart) logs.set(dataset, [...(logs.get(dataset) ?? []), part]);
      else maps.set(dataset, [...(maps.get(dataset) ?? []), part]);
    }
    this.#view = {
      parts: { logs, maps },
      generations: this.#view.generations.slice(count),
      partsVersion: this.#view.partsVersion + 1,
    };
  }

  /** In one step: what was in `before`, which follow each other, is now in `after`. Returns the version of the view that says so. */
  merged(dataset: Dataset, before: readonly (LogPart | MapPart)[], after: LogPart | MapPart | undefined): number {
    const { parts, generations, partsVersion } = this.#view;
    const isLog = dataset.order === "by-sort";
    const all: readonly (LogPart | MapPart)[] = (isLog ? parts.logs : parts.maps).get(dataset.id) ?? [];
    const at = all.indexOf(before[0] as LogPart | MapPart);
    const replaced = [...all.slice(0, at), ...(after === undefined ? [] : [after]), ...all.slice(at + before.length)];
    this.#view = {
      parts: isLog
        ? { ...parts, logs: new Map(parts.logs).set(dataset.id, replaced as LogPart[]) }
        : { ...parts, maps: new Map(parts.maps).set(dataset.id, replaced as MapPart[]) },
      generations,
      partsVersion: partsVersion + 1,
    };
    return this.#view.partsVersion;
  }
}
