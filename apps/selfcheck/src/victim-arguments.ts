import type { EventFields } from "./event-fields.ts";

/** What the parent tells the process that it will kill. */
export interface VictimArguments extends EventFields {
  /** Which kind of store it fills. */
  readonly store: "journal" | "eventlog" | "l0";
  readonly dir: string;
  readonly seed: number;
  readonly events: number;
  readonly input?: string | undefined;
  /** Which round this is: its events have numbers of their own. */
  readonly round: number;
}

/** What was made durable at once. */
export interface Acknowledgement {
  /** The first event's; those of the others follow from the plan. */
  readonly number: number;
  readonly count: number;
  /** What the first event got: a sequence, a position, a revision. */
  readonly sequence: number;
  /** In its stream; 0 where there are no streams. */
  readonly version: number;
}

/** A line, with an end that shows that it is whole. */
export const formatAcknowledgement = ({ number, count, sequence, version }: Acknowledgement): string =>
  `${number} ${count} ${sequence} ${version};\n`;

export function parseAcknowledgement(line: string): Acknowledgement | undefined {
  const match = /^(\d+) (\d+) (\d+) (\d+);$/.exec(line);
  if (match === null) return undefined;
  const [, number, count, sequence, version] = match.map(Number) as [number, number, number, number, number];
  return { number, count, sequence, version };
}
