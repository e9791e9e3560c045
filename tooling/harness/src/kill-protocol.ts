import { EhdbError } from "@ehdb/contracts";

/**
 * What the program that is killed tells its parent over its standard output, one line each. A line that a kill cut short is
 * ignored: what it would have said was never acknowledged.
 */
export type KillLine =
  /** The directory is about to be opened. */
  | { readonly says: "opening" }
  /** It is open, recovered, and load begins. */
  | { readonly says: "open" }
  /** The record `id` is durable at `position`. Said after the engine said so, never before. */
  | { readonly says: "acknowledged"; readonly id: string; readonly position: number }
  /** Everything below `position` may go from now on. Said before the call. */
  | { readonly says: "dropping"; readonly position: number }
  /** Everything below `position` is gone. */
  | { readonly says: "dropped"; readonly position: number };

export const opening: KillLine = { says: "opening" };
export const opened: KillLine = { says: "open" };

export function acknowledged(id: string, position: number): KillLine {
  return { says: "acknowledged", id, position };
}

export function dropping(position: number): KillLine {
  return { says: "dropping", position };
}

export function dropped(position: number): KillLine {
  return { says: "dropped", position };
}

/** The line with its end. */
export function killLine(line: KillLine): string {
  if (line.says === "acknowledged") return `acknowledged ${line.position} ${line.id}\n`;
  return "position" in line ? `${line.says} ${line.position}\n` : `${line.says}\n`;
}

/** The line without its end; throws when the program said something else. */
export function parseKillLine(text: string): KillLine {
  const [says, number, id] = text.split(" ");
  const position = Number(number);
  if (says === "opening" || says === "open") return { says };
  if ((says === "dropping" || says === "dropped") && Number.isSafeInteger(position)) return { says, position };
  if (says === "acknowledged" && Number.isSafeInteger(position) && id !== undefined) return { says, position, id };
  throw new EhdbError("UNEXPECTED", `the killed program said "${text}", which is no line of the protocol`);
}
