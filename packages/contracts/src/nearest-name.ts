/**
 * The name in `known` that `word` was most likely meant to be: the one with the smallest edit distance, letter case aside, when it is near
 * enough. `undefined` when none is: a wrong hint is worse than none.
 */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const ranked = known.map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }));
  const best = ranked.sort((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= mostTypos(best.name) ? best.name : undefined;
}

/** A third of the letters may be wrong, two in a short word; never so many that nothing of it is left. */
const mostTypos = (name: string): number => Math.min(name.length - 1, Math.max(2, Math.floor(name.length / 3)));

/** Levenshtein's: insertions, removals and changes of one letter. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
