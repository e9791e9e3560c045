import { isEhdbError } from "@ehdb/contracts";
import { ENTRY_HEADER_BYTES, keyAt, keyTextAt, sortAt, versionAt } from "../../envelope.ts";
import type { PartMeta } from "../../meta.ts";
import { entryRevision, entryTime, isWholeEntry } from "../../part/entry-cells.ts";
import { PartBuilder } from "../../part/part-builder.ts";
import { slotAt, slotCount, slotEnd } from "../../part/slots.ts";
import type { PartSource } from "./part-source.ts";
import { PartSink } from "./part-sink.ts";
import type { NewPart, PartMaking } from "./part-sink.ts";
import { wholeBlocks } from "./whole-blocks.ts";

/** Between which cells something is missing. An end that isn't known is `undefined`. */
export interface Hole {
  readonly offset: number;
  readonly isOfSection: boolean;
  readonly before: Edge | undefined;
  after: Edge | undefined;
}

/** A cell beside a hole. */
interface Edge {
  /** Of a log. */
  readonly sort: number;
  /** Of a map. */
  readonly key: string;
}

export interface Rebuilt {
  readonly parts: readonly PartMeta[];
  readonly records: number;
  readonly holes: readonly Hole[];
  /** Of a log: the last version of each key that is there, by key in Latin-1. */
  readonly lastVersions: ReadonlyMap<string, number>;
}

/**
 * New parts with all the records of a damaged one whose blocks are whole. A key's versions follow each other within a part: where some are
 * missing another part begins.
 */
export async function rebuildPart(source: PartSource, making: PartMaking, part: NewPart): Promise<Rebuilt> {
  const isLog = part.order === "by-sort";
  const lastVersions = new Map<string, number>();
  const parts: PartMeta[] = [];
  const holes: Hole[] = [];
  let [records, last]: [number, Edge | undefined] = [0, undefined];
  let run: Run | undefined;
  try {
    for await (const found of wholeBlocks(source, "data", source.footer?.data)) {
      const { plain, offset } = found;
      if (plain === undefined) {
        holes.push({ offset, isOfSection: found.isOfSection, before: last, after: undefined });
        continue;
      }
      for (let slot = 0; slot < slotCount(plain); slot++) {
        const at = slotAt(plain, slot);
        if (!isWholeEntry(plain, at, slotEnd(plain, slot), part.order)) continue;
        const op = at + ENTRY_HEADER_BYTES;
        run ??= new Run(making, part);
        if (!run.add(plain, at)) {
          parts.push(await run.end());
          run = new Run(making, part);
          run.add(plain, at);
        }
        records++;
        if (isLog) lastVersions.set(keyAt(plain, op).toString("latin1"), versionAt(plain, op));
        last = { sort: isLog ? sortAt(plain, op) : 0, key: isLog ? "" : keyTextAt(plain, op) };
        for (const hole of holes) hole.after ??= last;
      }
      await run?.flush();
    }
    if (run !== undefined) parts.push(await run.end());
  } catch (error) {
    await run?.close();
    throw error;
  }
  return { parts, records, holes, lastVersions };
}

/** A part in the making. */
class Run {
  readonly #sink: PartSink;
  readonly #builder: PartBuilder;
  #isEmpty = true;

  constructor(making: PartMaking, part: NewPart) {
    this.#sink = new PartSink(making, part);
    this.#builder = new PartBuilder(this.#sink.options);
  }

  /** False when the record doesn't go on from the one before. */
  add(block: Buffer, at: number): boolean {
    try {
      this.#builder.add(block, at + ENTRY_HEADER_BYTES, entryRevision(block, at), entryTime(block, at));
      this.#isEmpty = false;
      return true;
    } catch (error) {
      if (this.#isEmpty || !isEhdbError(error, "UNEXPECTED")) throw error;
      return false;
    }
  }

  flush(): Promise<void> {
    return this.#sink.flush();
  }

  async end(): Promise<PartMeta> {
    const meta = this.#builder.finish();
    await this.#sink.end();
    return meta;
  }

  close(): Promise<void> {
    return this.#sink.close();
  }
}
