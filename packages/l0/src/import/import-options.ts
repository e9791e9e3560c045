import { chosen, refuseUnknown } from "@ehdb/contracts";
import type { ImportOptions } from "@ehdb/contracts";
import { checkSignal } from "../read-options.ts";

export interface ImportRequest {
  readonly disorder: "refuse" | "count";
  readonly signal: AbortSignal | undefined;
}

/** INVALID_OPTION, INVALID_ARGUMENT. */
export function importOptions(options: ImportOptions): ImportRequest {
  refuseUnknown(options, ["disorder", "signal"] satisfies (keyof ImportOptions)[], "");
  const { disorder, signal } = options;
  checkSignal(signal);
  return { disorder: disorder === undefined ? "refuse" : chosen("disorder", disorder, ["refuse", "count"]), signal };
}
