import { showsLess } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { differs } from "./differences.ts";
import type { Seen } from "./events.ts";
import { isHidden } from "./hidden.ts";
import type { Hidden } from "./hidden.ts";
import type { ModelEvent } from "./model.ts";

/** What was to be seen when a read began. */
export interface Moment {
  readonly position: number;
  readonly hidden: Hidden;
  readonly recoveries: number;
  readonly isFirm: boolean;
}

export function beginning({ run, log }: Work): Moment {
  const { firstPosition } = log;
  return {
    position: log.position,
    hidden: { firstVersions: run.ledger.surelyHidden, firstPosition },
    recoveries: run.recoveries,
    isFirm: run.showsDurable,
  };
}

/** What may have been to be seen up to now, since a moment; undefined when a recovery came between, which may have taken back anything. */
export interface Bounds {
  readonly from: Moment;
  readonly position: number;
  readonly hidden: Hidden;
  /** Nothing happened meanwhile. */
  readonly isExact: boolean;
}

export function ending(work: Work, from: Moment): Bounds | undefined {
  const { run, log } = work;
  if (from.recoveries !== run.recoveries || run.recoveries % 2 === 1 || showsLess(work)) return undefined;
  const { position, firstPosition } = log;
  const firstVersions = run.ledger.perhapsHidden;
  const { hidden } = from;
  const isExact =
    firstVersions === hidden.firstVersions && firstPosition === hidden.firstPosition && position === from.position;
  return { from, position, hidden: { firstVersions, firstPosition }, isExact };
}

export interface Expected {
  /** All that are wanted, in the direction of the read, hidden or not. */
  readonly wanted: readonly ModelEvent[];
  readonly limit: number;
  /** The reader has left before the end. */
  readonly isCutShort: boolean;
}

/**
 * What is wrong with what a read showed, in words. It must show all that was there when it began and isn't hidden up to now; it
 * may show what came meanwhile, and what was hidden meanwhile; in order, without a gap.
 */
export function wrongIn(
  found: readonly Seen[],
  bounds: Bounds,
  { wanted, limit, isCutShort }: Expected,
): string | undefined {
  if (found.length > limit) return `${found.length} events, and ${limit} were wanted at most`;
  const { from } = bounds;
  const furthest = found.reduce((most, { position }) => Math.max(most, position), from.position);
  if (furthest > bounds.position) return `position ${furthest} is shown, and the log ends at ${bounds.position}`;
  let next = 0;
  for (const event of wanted) {
    const one = found[next];
    if (one?.position === event.position) {
      if (isHidden(from.hidden, event))
        return `${event.position} ${event.stream}@${event.version} is shown, and was hidden`;
      const wrong = differs(one, event);
      if (wrong !== undefined) return wrong;
      next++;
      continue;
    }
    if (one === undefined && (isCutShort || found.length === limit)) break;
    if (event.position <= furthest && !isHidden(bounds.hidden, event))
      return `${event.position} ${event.stream}@${event.version} is missing, before ${one?.position ?? "the end"}`;
  }
  const surplus = found[next];
  return surplus === undefined
    ? undefined
    : `${surplus.position} ${surplus.stream}@${surplus.version} isn't wanted here`;
}

/** Holds a check to the model once all up to the end is known, and counts. */
export function hold(
  run: Run,
  bounds: Bounds | undefined,
  what: string,
  wrong: () => string | undefined,
  through: number,
): void {
  if (bounds === undefined) return;
  run.counts.reads++;
  if (bounds.isExact) run.counts.exactReads++;
  run.ledger.whenKnown(through, () => {
    const words = wrong();
    if (words !== undefined) run.ledger.fail(`${what}: ${words}`);
  });
}
