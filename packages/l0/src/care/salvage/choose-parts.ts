import type { PartMeta } from "../../meta.ts";
import type { PartDamage } from "../../part/part-damage.ts";

/** A part that may belong to the store. */
export interface PartCandidate {
  readonly path: string;
  readonly meta: PartMeta;
  /** What is wrong with it; nothing when it's whole. */
  readonly damage: readonly PartDamage[];
}

/**
 * Those that make up the store, when it isn't known which it names: of parts that hold the same only one. A whole one goes before a damaged one, then
 * the one that was merged more often, for it has taken the place of the others; what those hold beyond it was dropped on purpose.
 */
export function chooseParts(candidates: readonly PartCandidate[]): PartCandidate[] {
  const chosen: PartCandidate[] = [];
  const isDamaged = ({ damage }: PartCandidate): number => (damage.length > 0 ? 1 : 0);
  const inOrder = candidates.toSorted(
    (a, b) => isDamaged(a) - isDamaged(b) || b.meta.level - a.meta.level || b.meta.id - a.meta.id,
  );
  for (const candidate of inOrder) {
    if (!chosen.some((other) => holdsTheSame(other.meta, candidate.meta))) chosen.push(candidate);
  }
  return chosen;
}

/** Whether both can't be parts of one store: `other`, which was chosen, has what this one has. */
export function holdsTheSame(other: PartMeta, part: PartMeta): boolean {
  if (other.dataset !== part.dataset) return false;
  if (other.lastSort > 0 && part.lastSort > 0)
    return other.firstSort <= part.lastSort && part.firstSort <= other.lastSort;
  const isLog = other.lastSort > 0 || part.lastSort > 0 || other.erasures > 0 || part.erasures > 0;
  // Parts of a log that cover no position may stand beside others of the same commits.
  if (isLog)
    return (
      other.level > part.level && other.firstRevision <= part.firstRevision && part.lastRevision <= other.lastRevision
    );
  return other.firstRevision <= part.lastRevision && part.firstRevision <= other.lastRevision;
}
