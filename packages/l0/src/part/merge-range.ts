import type { PartFile } from "./part-file.ts";
import type { PartRange } from "./part-writer.ts";

/** Records that a merge left out, by the reason. */
export interface Loss {
  superseded: number;
  erased: number;
  dropped: number;
}

export function noLoss(): Loss {
  return { superseded: 0, erased: 0, dropped: 0 };
}

/** What parts that follow each other cover together. */
export function coveredBy(files: readonly PartFile[]): PartRange {
  const metas = files.map(({ meta }) => meta);
  const withPositions = metas.filter(({ lastSort }) => lastSort > 0);
  return {
    firstSort: withPositions[0]?.firstSort ?? 0,
    lastSort: withPositions.at(-1)?.lastSort ?? 0,
    firstRevision: Math.min(...metas.map(({ firstRevision }) => firstRevision)),
    lastRevision: Math.max(...metas.map(({ lastRevision }) => lastRevision)),
    firstTime: Math.min(...metas.map(({ firstTime }) => firstTime)),
    lastTime: Math.max(...metas.map(({ lastTime }) => lastTime)),
  };
}
