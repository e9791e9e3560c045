import type { Batches, Commit, Engine, LogReadOptions, LogRecord, MapRecord, MapScanOptions } from "../engine.ts";
import { same } from "./claim.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export function textOf(payload: Uint8Array | undefined): string | undefined {
  return payload === undefined ? undefined : decoder.decode(payload);
}

/** One record in a commit of its own. */
export function append(engine: Engine, key: string, text: string, id?: string): Promise<Commit> {
  return engine.commit((batch) => batch.append("events", key, bytes(text), id));
}

export function put(engine: Engine, key: string, text: string): Promise<Commit> {
  return engine.commit((batch) => batch.put("state", key, bytes(text)));
}

export function remove(engine: Engine, key: string): Promise<Commit> {
  return engine.commit((batch) => batch.delete("state", key));
}

/** A read whose first step has been taken. */
export interface Begun<T> {
  /** All that it gives, from the first step on. A batch that holds nothing is a fault. */
  rest(): Promise<T[]>;
}

export async function begin<T>(batches: Batches<T>): Promise<Begun<T>> {
  const iterator = batches[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    async rest() {
      const all: T[] = [];
      for (let next = first; next.done !== true; next = await iterator.next()) {
        if (next.value.length === 0) throw new Error("a read gave an empty batch");
        all.push(...next.value);
      }
      return all;
    },
  };
}

/** All that a read gives. */
export async function everything<T>(batches: Batches<T>): Promise<T[]> {
  return (await begin(batches)).rest();
}

/** A log's records, one a line: `position key@version text`. */
export async function logLines(engine: Engine, options?: LogReadOptions, dataset = "events"): Promise<string[]> {
  return lines(await everything(engine.log(dataset).scan(options)));
}

export async function keyLines(engine: Engine, key: string, options?: LogReadOptions): Promise<string[]> {
  return lines(await everything(engine.log("events").read(key, options)));
}

export function lines(records: readonly LogRecord[]): string[] {
  return records.map(({ sort, key, version, payload, memory, start, end }) => {
    const text = textOf(payload);
    same("what memory holds from start to end", textOf(memory.subarray(start, end)), text);
    return `${sort} ${key}@${version} ${text}`;
  });
}

/** A map's values, one a line: `key=text`. */
export async function mapLines(engine: Engine, options?: MapScanOptions, dataset = "state"): Promise<string[]> {
  return valueLines(await everything(engine.map(dataset).scan(options)));
}

export function valueLines(records: readonly MapRecord[]): string[] {
  return records.map(({ key, payload }) => `${key}=${textOf(payload)}`);
}

export async function valueOf(engine: Engine, key: string, dataset = "state"): Promise<string | undefined> {
  return textOf((await engine.map(dataset).get(key))?.payload);
}
