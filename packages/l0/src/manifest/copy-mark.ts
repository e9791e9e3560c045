import type { Host } from "@ehdb/host";
import { readInForce } from "./in-force.ts";
import type { ReadManifest } from "./read-manifest.ts";
import type { LiveState, ManifestState } from "./state.ts";

/**
 * In the manifest of a copy that nobody has opened yet, a backup or what was made of one: its first open begins an incarnation of its
 * own, in an epoch that the original can't have reached.
 */
export interface CopyMark {
  /** Of the original, when it was copied. */
  readonly epoch: number;
  /** The last commit that is in the copy. */
  readonly revision: number;
  /** When it was made, wall clock. */
  readonly millis: number;
}

/** The first open of a copy raises the epoch by this at least, and by less than twice as much. */
const raisedEpochs: number = 2 ** 20;
const mostEpoch = 2 ** 32 - 1;

export function copyMarkOf({ others }: ManifestState): CopyMark | undefined {
  const mark = others["copy"];
  if (typeof mark !== "object" || mark === null) return undefined;
  const { epoch, revision, millis } = mark as Partial<Record<keyof CopyMark, unknown>>;
  return typeof epoch === "number" && typeof revision === "number" && typeof millis === "number"
    ? { epoch, revision, millis }
    : undefined;
}

export function markCopy(state: LiveState, mark: CopyMark): void {
  state.others = { ...state.others, copy: mark };
}

/** The copy becomes a store of its own. */
export function unmarkCopy(state: LiveState, incarnation: string): void {
  const { copy: _, ...others } = state.others;
  state.others = others;
  state.incarnation = incarnation;
}

/** Whether a manifest can come after another of the same copy of a store; otherwise another copy was put in its place. */
export function isSameCopy(before: ReadManifest, after: ReadManifest): boolean {
  const [was, is] = [before.state, after.state];
  return (
    was.store === is.store &&
    was.incarnation === is.incarnation &&
    JSON.stringify(copyMarkOf(was)) === JSON.stringify(copyMarkOf(is)) &&
    was.epoch <= is.epoch &&
    // A newer one may lack an edit that was seen before its sync, which failed.
    (before.id < after.id || (before.id === after.id && was.edits <= is.edits))
  );
}

/** The mark in a directory; `undefined` when there is none, or no store. */
export async function findCopyMark(host: Host, dir: string): Promise<CopyMark | undefined> {
  const found = await readInForce(host, dir);
  return found && copyMarkOf(found.replayed.state);
}

/** Where a copy's first epoch begins: far beyond what the original, or another copy, is in. */
export function epochOfCopy({ random }: Host, mark: CopyMark): number {
  return Math.min(mostEpoch, mark.epoch + raisedEpochs + random.integer(raisedEpochs));
}
