import { ENTRY_HEADER_BYTES, keyAt, sortAt, versionAt } from "../envelope.ts";
import { CellStream } from "./cell-stream.ts";
import { Words } from "./columns.ts";
import { logEntries } from "./entry-cells.ts";
import { addErasure, erasedKeyAt, erasureAt, erasureCellBytes, erasureCells, writeErasureCell } from "./erasures.ts";
import type { Erasure, Erasures } from "./erasures.ts";
import { mergeIds } from "./merge-ids.ts";
import { mergePostings } from "./merge-postings.ts";
import { coveredBy, noLoss } from "./merge-range.ts";
import type { Loss } from "./merge-range.ts";
import type { PartFile } from "./part-file.ts";
import type { Section } from "./part-format.ts";
import type { PartContent, PartWriter } from "./part-writer.ts";
import { SectionWriter } from "./section-writer.ts";

export interface LogMergeOptions {
  /** Positions below it go. */
  readonly floor: number;
  /** The ids of records that are gone are kept from this position on. */
  readonly firstKnownSort: number;
  /** No part before these holds anything of the log. */
  readonly isBottom: boolean;
}

/** What becomes of the records of a log in a merge. */
export class Fate {
  readonly floor: number;
  readonly #erasures: Erasures;

  constructor(floor: number, erasures: Erasures) {
    this.floor = floor;
    this.#erasures = erasures;
  }

  /** Whether nothing from this position on goes. */
  spares(firstSort: number): boolean {
    return this.#erasures.size === 0 && firstSort >= this.floor;
  }

  /** The first version of a key that stays. */
  firstVersion(key: Buffer): number {
    return this.#erasures.size === 0 ? 0 : (this.#erasures.get(key.toString("latin1"))?.below ?? 0);
  }
}

/**
 * Merges parts of a log that follow each other, oldest first. What is below the floor goes, and what is erased, by these parts or by
 * `erasers`, parts behind them; but never the last version of a key, nor an id that must still be known.
 */
export async function mergeLogs(
  files: readonly PartFile[],
  erasers: readonly PartFile[],
  writer: PartWriter,
  { floor, firstKnownSort, isBottom }: LogMergeOptions,
  pace: () => Promise<void>,
): Promise<{ readonly content: PartContent; readonly loss: Loss }> {
  const own: Erasures = new Map();
  for (const file of files) await readErasures(file, own);
  const all: Erasures = new Map(own);
  for (const file of erasers) await readErasures(file, all);
  const fate = new Fate(floor, all);
  const { output } = writer;
  const loss = noLoss();
  const data = new SectionWriter(output, "data", logEntries);
  let records = 0;
  for (const file of files) records += await addRecords(file, data, fate, loss, pace);
  const keyHashes = new Words();
  const idHashes = new Words();
  const content: PartContent = {
    records,
    range: coveredBy(files),
    data: data.finish(),
    postings: await mergePostings(files, output, fate, keyHashes, pace),
    ids: await mergeIds(files, output, fate, firstKnownSort, idHashes, pace),
    erasures: writeErasures(
      isBottom ? new Map<string, Erasure>() : own,
      new SectionWriter(output, "erasures", erasureCells),
    ),
    keyHashes: keyHashes.values(),
    idHashes: idHashes.values(),
  };
  return { content, loss };
}

async function readErasures(file: PartFile, into: Erasures): Promise<void> {
  const { erasures } = await file.footerOf("by-sort");
  const stream = new CellStream(file, erasures, "erasures", erasureCells);
  while (await stream.load()) {
    do addErasure(into, erasedKeyAt(stream.block, stream.at).toString("latin1"), erasureAt(stream.block, stream.at));
    while (stream.advance());
  }
}

function writeErasures(erasures: Erasures, section: SectionWriter): Section {
  for (const text of [...erasures.keys()].sort()) {
    const key = Buffer.from(text, "latin1");
    const at = section.place(erasureCellBytes(key));
    writeErasureCell(section.bytes, at, key, erasures.get(text) as Erasure);
  }
  return section.finish();
}

/** Returns how many stay. */
async function addRecords(
  file: PartFile,
  data: SectionWriter,
  fate: Fate,
  loss: Loss,
  pace: () => Promise<void>,
): Promise<number> {
  const { meta } = file;
  if (meta.lastSort < fate.floor) {
    loss.dropped += meta.records;
    return 0;
  }
  const stream = new CellStream(file, (await file.footerOf("by-sort")).data, "data", logEntries);
  const spares = fate.spares(meta.firstSort);
  let records = 0;
  while (await stream.load()) {
    await pace();
    if (spares) {
      records += data.placeBlock(stream.block);
      continue;
    }
    do {
      const { block, at, end } = stream;
      const op = at + ENTRY_HEADER_BYTES;
      if (sortAt(block, op) < fate.floor) loss.dropped++;
      else if (versionAt(block, op) < fate.firstVersion(keyAt(block, op))) loss.erased++;
      else {
        const cell = data.place(end - at);
        block.copy(data.bytes, cell, at, end);
        records++;
      }
    } while (stream.advance());
  }
  return records;
}
