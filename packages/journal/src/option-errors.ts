import { EhdbError, nearestName } from "@ehdb/contracts";
import { shown } from "./shown.ts";

/** INVALID_OPTION for what isn't an object of options, and for a name that isn't known, with the one that was meant. */
export function refuseUnknown(options: object, known: readonly string[], prefix: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalid("options", options, `an object of options (${known.join(", ")})`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const hint = near === undefined ? `Known are ${known.join(", ")}` : `Did you mean ${prefix}${near}?`;
    throw new EhdbError("INVALID_OPTION", `there is no option ${prefix}${name}. ${hint}`, {
      option: `${prefix}${name}`,
      suggestion: near,
    });
  }
}

/** INVALID_OPTION: what was given, and what is wanted. */
export const invalid = (option: string, value: unknown, wanted: string): EhdbError =>
  invalidAs(option, shown(value), wanted);

/** The same for a value that isn't to be shown, but described. */
export function invalidAs(option: string, got: string, wanted: string): EhdbError {
  return new EhdbError("INVALID_OPTION", `${option} must be ${wanted}, not ${got}`, { option, got, wanted });
}
