import type { Checks } from "./checks.ts";
import { Problems } from "./problems.ts";

/** So many were looked at, and this is wrong with them. */
export interface Finding {
  count: number;
  readonly problems: Problems;
}

export const newFinding = (): Finding => ({ count: 0, problems: new Problems() });

export function tellFinding(checks: Checks, name: string, { count, problems }: Finding): void {
  checks.step({ name, count, ok: problems.none, message: problems.text });
}
