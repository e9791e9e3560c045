import { EhdbError } from "./errors.ts";
import { nearestName } from "./nearest-name.ts";
import { shown } from "./shown.ts";

/** INVALID_OPTION for what isn't an object of options, and for a name that isn't known, with the one that was meant. */
export function refuseUnknown(options: object, known: readonly string[], prefix: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalidOption("options", options, `an object of options (${known.join(", ")})`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const hint = near === undefined ? `Known are ${known.join(", ")}` : `Did you mean ${prefix}${near}?`;
    const data = { option: `${prefix}${name}`, suggestion: near };
    throw new EhdbError("INVALID_OPTION", `there is no option ${prefix}${name}. ${hint}`, data);
  }
}

/** INVALID_OPTION: what was given, and what is wanted. */
export function invalidOption(option: string, value: unknown, wanted: string): EhdbError {
  return describedOption(option, shown(value), wanted);
}

/** The same for a value that isn't to be shown, but described. */
export function describedOption(option: string, got: string, wanted: string): EhdbError {
  return new EhdbError("INVALID_OPTION", `${option} must be ${wanted}, not ${got}`, { option, got, wanted });
}

/** INVALID_ARGUMENT: the same for an argument, and, where there is one, the way from what was given to what is wanted. */
export function invalidArgument(argument: string, value: unknown, wanted: string, hint = ""): EhdbError {
  const got = shown(value);
  const message = `${argument} must be ${wanted}, not ${got}${hint === "" ? "" : `. ${hint}`}`;
  return new EhdbError("INVALID_ARGUMENT", message, { argument, got, wanted });
}

/** Reads options with their defaults. INVALID_OPTION names what was wrong. */
export interface OptionReader<T> {
  readonly whole: (name: keyof T & string, standard: number, least: number, most: number) => number;
  readonly oneOf: <V extends string>(name: keyof T & string, values: readonly V[], standard: V) => V;
  readonly flag: (name: keyof T & string, standard?: boolean) => boolean;
}

export function optionReader<T extends object>(options: T): OptionReader<T> {
  return {
    whole(name, standard, least, most) {
      const value: unknown = options[name];
      if (value === undefined) return standard;
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
      throw invalidOption(name, value, `a whole number from ${least} to ${most}`);
    },
    oneOf(name, values, standard) {
      const value: unknown = options[name];
      return value === undefined ? standard : chosen(name, value, values);
    },
    flag(name, standard = false) {
      const value: unknown = options[name];
      if (value === undefined) return standard;
      if (typeof value === "boolean") return value;
      throw invalidOption(name, value, "true or false");
    },
  };
}

/** The one of `values` that was given. INVALID_OPTION names them otherwise. */
export function chosen<V extends string>(option: string, value: unknown, values: readonly V[]): V {
  const found = values.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidOption(option, value, `one of ${values.map((one) => `"${one}"`).join(", ")}`);
}
