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
  | { readonly says: "dropped"; readonly position: number }
  /** The record at `position` may be done with from now on. Said before the call. */
  | { readonly says: "settling"; readonly position: number }
  /** The record at `position` is done with, durably. */
  | { readonly says: "settled"; readonly position: number }
  /** The program itself saw a promise broken. */
  | { readonly says: "broken"; readonly problem: string };

const ofOnePosition = ["dropping", "dropped", "settling", "settled"] as const;

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

export function settling(position: number): KillLine {
  return { says: "settling", position };
}

export function settled(position: number): KillLine {
  return { says: "settled", position };
}

export function broken(problem: string): KillLine {
  return { says: "broken", problem };
}

/** The line with its end. */
export function killLine(line: KillLine): string {
  if (line.says === "broken") return `broken ${line.problem.replaceAll("\n", " ")}\n`;
  if (line.says === "acknowledged") return `acknowledged ${line.position} ${line.id}\n`;
  return "position" in line ? `${line.says} ${line.position}\n` : `${line.says}\n`;
}

/** The line without its end; throws when the program said something else. */
export function parseKillLine(text: string): KillLine {
  const [says, number, id] = text.split(" ");
  const position = Number(number);
  if (says === "opening" || says === "open") return { says };
  const known = ofOnePosition.find((one) => one === says);
  if (known !== undefined && Number.isSafeInteger(position)) return { says: known, position };
  if (says === "acknowledged" && Number.isSafeInteger(position) && id !== undefined) return { says, position, id };
  if (says === "broken") return { says, problem: text.slice(says.length + 1) };
  throw new EhdbError("UNEXPECTED", `the killed program said "${text}", which is no line of the protocol`);
}
