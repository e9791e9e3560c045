/** What the parent tells the process that it will kill. */
export interface VictimArguments {
  readonly dir: string;
  readonly segmentBytes: number;
  readonly seed: number;
  readonly events: number;
  readonly input?: string | undefined;
  /** Which round this is: its events have numbers of their own. */
  readonly round: number;
}

/** One line a durable append: the first event's number, how many, the sequence of the first, and an end that shows the line is whole. */
export const formatAcknowledgement = (numbers: readonly number[], sequence: number): string =>
  `${numbers[0]} ${numbers.length} ${sequence};\n`;

export interface Acknowledgement {
  readonly number: number;
  readonly count: number;
  readonly sequence: number;
}

export function parseAcknowledgement(line: string): Acknowledgement | undefined {
  const match = /^(\d+) (\d+) (\d+);$/.exec(line);
  if (match === null) return undefined;
  return { number: Number(match[1]), count: Number(match[2]), sequence: Number(match[3]) };
}
