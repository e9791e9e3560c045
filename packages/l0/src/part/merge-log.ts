import { ENTRY_HEADER_BYTES, keyAt, sortAt, versionAt } from "../envelope.ts";
import { keyHash } from "./bloom.ts";
import { CellStream } from "./cell-stream.ts";
import { Words } from "./columns.ts";
import { logEntries } from "./entry-cells.ts";
import { addErasure, erasedKeyAt, erasureAt, erasureCellBytes, erasureCells, writeErasureCell } from "./erasures.ts";
import type { Erasure, Erasures } from "./erasures.ts";
import { findVersions } from "./log-lookups.ts";
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
}

export interface LogMergeSources {
  /** To be merged: they follow each other, oldest first. */
  readonly files: readonly PartFile[];
  /** All before them. */
  readonly older: readonly PartFile[];
  /** Those behind them that have erasures. */
  readonly erasers: readonly PartFile[];
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
 * Merges parts of a log. What is below the floor goes, and what is erased, by these parts or by others behind them; but never the last
 * version of a key, nor an id that must still be known. An erasure goes, too, once no part before these holds what it erases.
 */
export async function mergeLogs(
  { files, older, erasers }: LogMergeSources,
  writer: PartWriter,
  { floor, firstKnownSort }: LogMergeOptions,
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
    erasures: await addErasures(own, older, new SectionWriter(output, "erasures", erasureCells), pace),
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

/** Those that older parts need. */
async function addErasures(
  erasures: Erasures,
  older: readonly PartFile[],
  section: SectionWriter,
  pace: () => Promise<void>,
): Promise<Section> {
  for (const text of [...erasures.keys()].sort()) {
    await pace();
    const key = Buffer.from(text, "latin1");
    const erasure = erasures.get(text) as Erasure;
    if (!(await isNeeded(key, erasure, older))) continue;
    const at = section.place(erasureCellBytes(key));
    writeErasureCell(section.bytes, at, key, erasure);
  }
  return section.finish();
}

async function isNeeded(bytes: Buffer, { below }: Erasure, older: readonly PartFile[]): Promise<boolean> {
  const key = { bytes, hash: keyHash(bytes) };
  for (const file of older) {
    const versions = await file.run("by-sort", (footer) => findVersions(file, footer, key));
    if (versions !== null && versions.first <= versions.last && versions.first < below) return true;
  }
  return false;
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
