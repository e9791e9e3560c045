import { ENTRY_HEADER_BYTES, operation, operationAt } from "../envelope.ts";
import { keyHash } from "./bloom.ts";
import { CellStream } from "./cell-stream.ts";
import { Words } from "./columns.ts";
import { entryRevision, mapEntries } from "./entry-cells.ts";
import { mergeCells } from "./merge-cells.ts";
import { coveredBy, noLoss } from "./merge-range.ts";
import type { Loss } from "./merge-range.ts";
import type { PartFile } from "./part-file.ts";
import { noSection } from "./part-format.ts";
import type { PartContent, PartWriter } from "./part-writer.ts";
import { compareBytes, noBytes } from "./position.ts";
import { SectionWriter } from "./section-writer.ts";

export interface MapMergeOptions {
  /** Every entry above it stays. */
  readonly floor: number;
  /** At or below the floor: so many entries of a key, the newest. */
  readonly depth: number;
  /** No part before these holds anything of the map. */
  readonly isBottom: boolean;
}

/**
 * Merges parts of a map that follow each other, oldest first. Above the floor everything stays. At or below it the newest entries of a key do,
 * up to the newest delete; that one goes too when no earlier part can hold what it hides.
 */
export async function mergeMaps(
  files: readonly PartFile[],
  writer: PartWriter,
  { floor, depth, isBottom }: MapMergeOptions,
  pace: () => Promise<void>,
): Promise<{ readonly content: PartContent; readonly loss: Loss }> {
  const data = new SectionWriter(writer.output, "data", mapEntries);
  const hashes = new Words();
  const loss = noLoss();
  let records = 0;
  let key: Uint8Array = noBytes;
  let isKept = false;
  /** Entries of the key at or below the floor that a reader may still want. */
  let left = 0;
  const streams: CellStream[] = [];
  for (const file of files)
    streams.push(new CellStream(file, (await file.footerOf("by-key")).data, "data", mapEntries, files.length));
  await mergeCells(
    streams,
    (stream) => {
      const { block, at, end } = stream;
      const { first } = stream.position;
      if (compareBytes(first, 0, first.length, key) !== 0) {
        key = Uint8Array.from(first);
        isKept = false;
        left = depth;
      }
      if (entryRevision(block, at) <= floor) {
        const isDelete = operationAt(block, at + ENTRY_HEADER_BYTES) === operation.delete;
        const stays = left > 0 && !(isDelete && isBottom);
        left = isDelete ? 0 : left - 1;
        if (!stays) {
          loss.superseded++;
          return;
        }
      }
      if (!isKept) hashes.push(keyHash(key));
      isKept = true;
      records++;
      const cell = data.place(end - at);
      block.copy(data.bytes, cell, at, end);
    },
    pace,
  );
  const content: PartContent = {
    records,
    range: coveredBy(files),
    data: data.finish(),
    postings: noSection,
    ids: noSection,
    erasures: noSection,
    keyHashes: hashes.values(),
    idHashes: new Uint32Array(0),
  };
  return { content, loss };
}
