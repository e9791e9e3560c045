import { idHash } from "./bloom.ts";
import { CellStream } from "./cell-stream.ts";
import type { Words } from "./columns.ts";
import { idCellBytes, idCells, storedIdAt, writeIdCell } from "./ids-section.ts";
import type { StoredId } from "./ids-section.ts";
import { timeOf } from "./log-lookups.ts";
import { mergeCells } from "./merge-cells.ts";
import type { Fate } from "./merge-log.ts";
import type { PartFile } from "./part-file.ts";
import type { Section } from "./part-format.ts";
import type { Position } from "./position.ts";
import { SectionWriter } from "./section-writer.ts";
import type { PartOutput } from "./section-writer.ts";

/** The ids of records that stay, and of those that go the ones from `firstKnownSort` on. */
export async function mergeIds(
  files: readonly PartFile[],
  output: PartOutput,
  fate: Fate,
  firstKnownSort: number,
  idHashes: Words,
  pace: () => Promise<void>,
): Promise<Section> {
  const section = new SectionWriter(output, "ids", idCells);
  const fileOf = new Map<CellStream, PartFile>();
  for (const file of files)
    fileOf.set(new CellStream(file, (await file.footerOf("by-sort")).ids, "ids", idCells, files.length), file);

  function add({ first, second }: Position, stored: StoredId, time: number): void {
    const key = Buffer.from(second.buffer, second.byteOffset, second.length);
    const version = Math.abs(stored.version);
    const isGone = stored.version < 0 || stored.sort < fate.floor || version < fate.firstVersion(key);
    if (isGone && stored.sort < firstKnownSort) return;
    idHashes.push(idHash(first, key));
    const at = section.place(idCellBytes(first, key));
    writeIdCell(section.bytes, at, first, key, { ...stored, version: isGone ? -version : version, time });
  }

  await mergeCells(
    [...fileOf.keys()],
    (stream) => {
      const { block, at, end, position } = stream;
      const stored = storedIdAt(block, at, end);
      if (stored.time !== undefined) {
        add(position, stored, stored.time);
        return undefined;
      }
      const file = fileOf.get(stream) as PartFile;
      return file
        .run("by-sort", (footer) => timeOf(file, footer, stored.sort))
        .then((time) => add(position, stored, time));
    },
    pace,
  );
  return section.finish();
}
