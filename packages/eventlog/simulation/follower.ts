import type { LogCheckpoint } from "@ehdb/contracts";
import type { Wanted } from "./events.ts";

/** How a reader takes what it's given. */
export interface Manner {
  /** Iterates by batches. */
  readonly takesBatches: boolean;
  /** Milliseconds that it rests now and then. */
  readonly slowness: number;
}

/** A reader who keeps where it is, and goes on from there: over closes, crashes and recoveries. */
export class Follower implements Manner {
  readonly name: string;
  readonly filter: Wanted;
  readonly takesBatches: boolean;
  readonly slowness: number;
  /** Undefined: from the first event there is. */
  place: LogCheckpoint | undefined;
  /** The incarnation in which the place was reached. */
  life = 0;

  constructor(name: string, filter: Wanted, { takesBatches, slowness }: Manner) {
    this.name = name;
    this.filter = filter;
    this.takesBatches = takesBatches;
    this.slowness = slowness;
  }
}
