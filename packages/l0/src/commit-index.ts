import { offsetOf } from "./chunks.ts";
import type { Chunks, Place } from "./chunks.ts";

/** The commits of a generation: where each begins and ends. Revisions are dense. */
export class CommitIndex {
  readonly chunks: Chunks;
  readonly firstRevision: number;
  readonly places: Place[] = [];
  readonly ends: number[] = [];

  constructor(chunks: Chunks, firstRevision: number) {
    this.chunks = chunks;
    this.firstRevision = firstRevision;
  }

  get lastRevision(): number {
    return this.firstRevision + this.places.length - 1;
  }

  /** A commit of `bytes` at `place`; returns its revision. */
  add(place: Place, bytes: number): number {
    this.places.push(place);
    this.ends.push(offsetOf(place) + bytes);
    return this.lastRevision;
  }

  timeOf(revision: number): number {
    const place = this.places[revision - this.firstRevision] as Place;
    return this.chunks.buffer(place).readDoubleLE(offsetOf(place) + 1);
  }
}
