import type { Batches, MapDataset, MapRecord, MapScanOptions } from "@ehdb/contracts";
import type { Dataset } from "./dataset.ts";
import { operation } from "./envelope.ts";
import type { Generation } from "./generation.ts";
import { newestOfEachKey } from "./map-merge.ts";
import type { MapTable } from "./map-table.ts";
import type { MapEntry } from "./part/entry-cells.ts";
import type { Pin } from "./pins.ts";
import { keyRange } from "./read-options.ts";
import type { KeyRange } from "./read-options.ts";
import type { ReadContext } from "./read-context.ts";
import { nameBytes } from "./names.ts";
import { searchKey } from "./part/search-key.ts";
import { mapParts } from "./view.ts";
import type { View } from "./view.ts";

const sliceRecords = 256;

/** Reads of a map dataset. Each sees one moment: what was readable when it began. */
export class MapReads implements MapDataset {
  readonly #context: ReadContext;
  readonly #name: string;

  constructor(context: ReadContext, name: string) {
    this.#context = context;
    this.#name = name;
  }

  get name(): string {
    return this.#name;
  }

  async get(key: string): Promise<MapRecord | undefined> {
    let found: MapEntry | undefined;
    let pin: Pin | undefined;
    try {
      nameBytes("key", key);
      this.#context.beginRead();
      pin = this.#context.pin();
      found = await newest(pin.view, this.#context.dataset(this.#name), key, this.#context.readable());
    } catch (error) {
      throw this.#context.failed(error);
    } finally {
      pin?.release();
    }
    return found === undefined || found.operation === operation.delete ? undefined : found.record;
  }

  scan(options: MapScanOptions = {}): Batches<MapRecord> {
    let range: KeyRange;
    try {
      range = keyRange(options);
    } catch (error) {
      throw this.#context.failed(error);
    }
    return this.#context.reading((pin) => this.#scan(pin.view, range), range.signal);
  }

  async *#scan(view: View, range: KeyRange): AsyncGenerator<readonly MapRecord[]> {
    const readable = this.#context.readable();
    const dataset = this.#context.dataset(this.#name);
    const { from, before } = range;
    const bytes = { from: Buffer.from(from), ...(before === undefined ? {} : { before: Buffer.from(before) }) };
    const sources = [
      ...mapParts(view, dataset).map((part) => part.scan(bytes)),
      ...tablesOf(view, dataset).map((table) => entriesOf(table, range, readable)),
    ];
    let slice: MapRecord[] = [];
    let left = range.limit;
    if (left === 0) return;
    let seen = 0;
    for await (const entry of newestOfEachKey(sources, readable)) {
      // Many may be deleted, and then no slice is given for long.
      if (++seen % sliceRecords === 0) await this.#context.turns.next();
      if (entry.operation === operation.delete) continue;
      slice.push(entry.record);
      left--;
      if (slice.length < sliceRecords && left > 0) continue;
      yield slice;
      if (left === 0) return;
      slice = [];
    }
    if (slice.length > 0) yield slice;
  }
}

async function newest(view: View, dataset: Dataset, key: string, readable: number): Promise<MapEntry | undefined> {
  for (const table of tablesOf(view, dataset).toReversed()) {
    const found = table.get(key, readable);
    if (found !== undefined) return found;
  }
  const wanted = searchKey(key);
  for (const part of mapParts(view, dataset).toReversed()) {
    const found = await part.get(wanted, readable);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tablesOf(view: View, dataset: Dataset): MapTable[] {
  return view.generations.flatMap((generation: Generation) => generation.maps.get(dataset.id) ?? []);
}

async function* entriesOf(table: MapTable, range: KeyRange, readable: number): AsyncGenerator<readonly MapEntry[]> {
  const keys = table.keys(range.from, range.before);
  for (let at = 0; at < keys.length; at += sliceRecords) {
    yield keys.slice(at, at + sliceRecords).flatMap((key) => table.get(key, readable) ?? []);
  }
}
