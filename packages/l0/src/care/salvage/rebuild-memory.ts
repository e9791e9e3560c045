import type { PartMeta } from "../../meta.ts";
import { idHash, keyHash } from "../../part/bloom.ts";
import { Words } from "../../part/columns.ts";
import { erasedKeyAt, erasureAt, erasureCellBytes, erasureCells, writeErasureCell } from "../../part/erasures.ts";
import { idCellBytes, idCells, storedIdAt, writeIdCell } from "../../part/ids-section.ts";
import { noSection } from "../../part/part-format.ts";
import { PartWriter } from "../../part/part-writer.ts";
import { postingCellBytes, postingCells, versionRangeAt, writePostingCell } from "../../part/postings.ts";
import { SectionWriter } from "../../part/section-writer.ts";
import { slotAt, slotCount, slotEnd } from "../../part/slots.ts";
import type { BlockKind } from "../../part/block.ts";
import type { PartSource } from "./part-source.ts";
import { PartSink } from "./part-sink.ts";
import type { NewPart, PartMaking } from "./part-sink.ts";
import { wholeBlocks } from "./whole-blocks.ts";
import type { Section } from "../../part/part-format.ts";

const noSorts = new Float64Array(0);

/**
 * A part without records that remembers what a damaged part of a log knew beyond its records: the last versions of keys whose records are gone or
 * lost, the ids of erased ones, and erasures. `undefined` when there is nothing of it.
 *
 * The id of a record that is lost isn't remembered: whoever has the record may append it again.
 */
export async function rebuildMemory(
  source: PartSource,
  making: PartMaking,
  part: NewPart,
  meta: PartMeta,
  lastVersions: ReadonlyMap<string, number>,
): Promise<PartMeta | undefined> {
  const sink = new PartSink(making, { ...part, level: Math.max(1, part.level) });
  const writer = new PartWriter(sink.options);
  const { output } = writer;
  const [keyHashes, idHashes] = [new Words(), new Words()];
  const postings = new SectionWriter(output, "postings", postingCells);
  let before = "";
  await eachCell(source, "postings", source.footer?.postings, (block, at) => {
    const key = Buffer.from(postingCells.position(block, at).first);
    const text = key.toString("latin1");
    const { last } = versionRangeAt(block, at);
    if (text === before || (lastVersions.get(text) ?? 0) >= last) return;
    before = text;
    keyHashes.push(keyHash(key));
    const cell = postings.place(postingCellBytes(key, noSorts));
    writePostingCell(postings.bytes, cell, key, last + 1, { first: last + 1, last }, noSorts);
  });
  const written = postings.finish();
  const ids = new SectionWriter(output, "ids", idCells);
  await eachCell(source, "ids", source.footer?.ids, (block, at, end) => {
    const stored = storedIdAt(block, at, end);
    if (stored.version >= 0) return;
    const { first, second } = idCells.position(block, at);
    idHashes.push(idHash(first, second));
    const cell = ids.place(idCellBytes(first, second));
    writeIdCell(ids.bytes, cell, first, second, { ...stored, time: stored.time ?? meta.lastTime });
  });
  const writtenIds = ids.finish();
  const erasures = new SectionWriter(output, "erasures", erasureCells);
  await eachCell(source, "erasures", source.footer?.erasures, (block, at) => {
    const key = erasedKeyAt(block, at);
    const cell = erasures.place(erasureCellBytes(key));
    writeErasureCell(erasures.bytes, cell, key, erasureAt(block, at));
  });
  const writtenErasures = erasures.finish();
  if (written.cells + writtenIds.cells + writtenErasures.cells === 0) return undefined;
  const made = writer.finish({
    records: 0,
    // It stands behind the part's records, and covers no position.
    range: {
      firstSort: 0,
      lastSort: 0,
      firstRevision: meta.lastRevision,
      lastRevision: meta.lastRevision,
      firstTime: meta.lastTime,
      lastTime: meta.lastTime,
    },
    data: noSection,
    postings: written,
    ids: writtenIds,
    erasures: writtenErasures,
    keyHashes: keyHashes.values(),
    idHashes: idHashes.values(),
  });
  await sink.end();
  return made;
}

async function eachCell(
  source: PartSource,
  kind: BlockKind,
  section: Section | undefined,
  visit: (block: Buffer, at: number, end: number) => void,
): Promise<void> {
  for await (const { plain } of wholeBlocks(source, kind, section)) {
    if (plain === undefined) continue;
    for (let slot = 0; slot < slotCount(plain); slot++) visit(plain, slotAt(plain, slot), slotEnd(plain, slot));
  }
}
