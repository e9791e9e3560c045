import type { CellStream } from "./cell-stream.ts";
import { comparePositions } from "./position.ts";

/**
 * The cells of several streams in their one order; of equal ones that of the earlier stream comes first. `visit` is called with the
 * stream that is at the next cell, and with all that have cells left; `pace` each time that a block has been read.
 */
export async function mergeCells(
  streams: readonly CellStream[],
  visit: (at: CellStream, all: readonly CellStream[]) => Promise<void> | void,
  pace: () => Promise<void>,
): Promise<void> {
  const ranks = new Map(streams.map((stream, rank) => [stream, rank]));
  const heap: CellStream[] = [];
  const isBefore = (one: CellStream, other: CellStream): boolean => {
    const order = comparePositions(one.position, other.position);
    return order < 0 || (order === 0 && (ranks.get(one) as number) < (ranks.get(other) as number));
  };
  try {
    for (const stream of streams) if (await stream.load()) push(heap, stream, isBefore);
    for (let top = heap[0]; top !== undefined; top = heap[0]) {
      const visited = visit(top, heap);
      if (visited !== undefined) await visited;
      if (!top.advance()) {
        await pace();
        if (!(await top.load())) {
          const last = heap.pop() as CellStream;
          if (last === top) continue;
          heap[0] = last;
        }
      }
      sink(heap, isBefore);
    }
  } finally {
    for (const stream of streams) await stream.close();
  }
}

type Order = (one: CellStream, other: CellStream) => boolean;

function push(heap: CellStream[], stream: CellStream, isBefore: Order): void {
  let at = heap.length;
  heap.push(stream);
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent] as CellStream;
    if (!isBefore(stream, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = stream;
}

/** Puts the top where it belongs. */
function sink(heap: CellStream[], isBefore: Order): void {
  const moved = heap[0];
  if (moved === undefined) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, heap[child] as CellStream)) child++;
    if (!isBefore(heap[child] as CellStream, moved)) break;
    heap[at] = heap[child] as CellStream;
    at = child;
  }
  heap[at] = moved;
}
