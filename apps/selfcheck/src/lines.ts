import { KIB } from "@ehdb/contracts";
import type { File } from "@ehdb/host";

const CHUNK_BYTES = 256 * KIB;
const LINE_FEED = 0x0a;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without the line feed; of a line longer than the limit, its first part only. */
  readonly bytes: Uint8Array;
  readonly tooLong: boolean;
}

/** A file's lines, one after the other: memory holds one line and one chunk, however large the file is. */
export async function* readLines(file: File, maxLineBytes: number): AsyncGenerator<Line, void, undefined> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let [position, number] = [0, 1];
  let pieces: Uint8Array[] = [];
  let pieceBytes = 0;
  const keep = (piece: Uint8Array): void => {
    const room = maxLineBytes + 1 - pieceBytes;
    if (room <= 0 || piece.length === 0) return;
    const kept = piece.slice(0, room);
    pieces.push(kept);
    pieceBytes += kept.length;
  };
  const take = (): Line => {
    const line = { number, bytes: Buffer.concat(pieces), tooLong: pieceBytes > maxLineBytes };
    [pieces, pieceBytes] = [[], 0];
    number += 1;
    return line;
  };
  for (;;) {
    const count = await file.read(chunk, position);
    if (count === 0) break;
    position += count;
    const bytes = chunk.subarray(0, count);
    let start = 0;
    for (let feed = bytes.indexOf(LINE_FEED); feed !== -1; feed = bytes.indexOf(LINE_FEED, start)) {
      keep(bytes.subarray(start, feed));
      yield take();
      start = feed + 1;
    }
    keep(bytes.subarray(start));
  }
  if (pieceBytes > 0) yield take();
}
