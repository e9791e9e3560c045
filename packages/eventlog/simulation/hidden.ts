import type { ModelEvent } from "./model.ts";

/** What is hidden, at one moment. */
export interface Hidden {
  readonly firstVersions: ReadonlyMap<string, number>;
  readonly firstPosition: number;
}

export function isHidden({ firstVersions, firstPosition }: Hidden, { stream, version, position }: ModelEvent): boolean {
  return position < firstPosition || version < (firstVersions.get(stream) ?? 1);
}
