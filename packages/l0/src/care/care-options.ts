import { resolve, sep } from "node:path";
import { invalidOption, isAbortSignal, refuseUnknown } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { keyRing } from "@ehdb/journal";
import type { KeyRing } from "@ehdb/journal";

/** What the calls have in common that look after a store which isn't open. */
export interface CareOptions {
  readonly dir?: string;
  readonly from?: string;
  readonly to?: string;
  readonly host?: Host;
  readonly encryption?: KeyRing;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface ResolvedCareOptions {
  readonly host: Host;
  readonly dir: string;
  readonly from: string;
  readonly to: string;
  readonly encryption: KeyRing | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: CareOptions["onProgress"];
}

/** INVALID_OPTION for an option that isn't `known`, and for a path among them that isn't one. */
export function resolveCareOptions(options: CareOptions, known: readonly (keyof CareOptions)[]): ResolvedCareOptions {
  refuseUnknown(options, known, "");
  const { host, encryption } = options;
  const path = (name: "dir" | "from" | "to"): string => (known.includes(name) ? pathOf(name, options[name]) : "");
  return {
    host: hostOf(host),
    dir: path("dir"),
    from: path("from"),
    to: path("to"),
    encryption: keyRing(encryption),
    ...resolveWork(options),
  };
}

/** How a long piece of work is watched and given up. */
export function resolveWork({
  signal,
  onProgress,
}: {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: CareOptions["onProgress"] | undefined;
}): Pick<ResolvedCareOptions, "signal" | "onProgress"> {
  if (signal !== undefined && !isAbortSignal(signal)) throw invalidOption("signal", signal, "an AbortSignal");
  if (onProgress !== undefined && typeof onProgress !== "function")
    throw invalidOption("onProgress", onProgress, "a function");
  return { signal, onProgress };
}

export function pathOf(option: string, path: unknown): string {
  if (typeof path !== "string" || path === "" || path.includes("\0"))
    throw invalidOption(option, path, "the path of a directory");
  return resolve(path);
}

/** INVALID_OPTION for a `to` within `from`: a copy there would be a part of what it's copied from. */
export function assertOutside(from: string, to: string): void {
  const within = from.endsWith(sep) ? from : from + sep;
  if (to.startsWith(within)) throw invalidOption("to", to, `a directory outside of ${from}, best on another disk`);
}
