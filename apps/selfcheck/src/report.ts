import type { Outcome } from "./outcome.ts";

/** A service level, and how a figure is held against it. */
export interface Level {
  readonly text: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One row: what was checked, how many times, the figure, and whether it is as it must be. */
export interface Step {
  readonly name: string;
  /** Events, records or samples looked at; null where counting says nothing. */
  readonly count: number | null;
  readonly value: number | string | null;
  readonly unit: string | null;
  readonly level: string | null;
  /** Whether the figure meets the service level; null without one. A miss is not a failure unless `--strict` asks for it. */
  readonly met: boolean | null;
  readonly ok: boolean;
  readonly message: string | null;
}

/** What programs look for in the report of the verb `eventlog`. */
export interface Facts {
  /** The engine that the events are kept by. */
  readonly storage_backend: string;
  /** Events read back from the log that was closed and opened again. */
  readonly durable_replay_records: number;
  /** Whether those are all, in order and byte for byte. */
  readonly durable_replay_ok: boolean;
}

export interface Report extends Partial<Facts> {
  readonly verb: string;
  readonly ok: boolean;
  readonly outcome: Outcome;
  /** The same seed gives the same events, and kills after as many of them. */
  readonly seed: number;
  readonly seconds: number;
  readonly steps: readonly Step[];
}

/** What a verb says about one step; what it leaves out is null, and `ok` is true. */
export interface StepInput {
  readonly name: string;
  readonly count?: number;
  readonly value?: number | string;
  readonly unit?: string;
  readonly level?: Level;
  readonly ok?: boolean;
  readonly message?: string | undefined;
}

export function makeStep(input: StepInput, strict: boolean): Step {
  const met = input.level === undefined ? null : meets(input.value, input.level);
  return {
    name: input.name,
    count: input.count ?? null,
    value: input.value ?? null,
    unit: input.unit ?? null,
    level: input.level?.text ?? null,
    met,
    ok: (input.ok ?? true) && !(strict && met === false),
    message: input.message ?? null,
  };
}

/** A figure that could not be measured doesn't meet its level. */
function meets(value: number | string | undefined, level: Level): boolean {
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  return value >= (level.atLeast ?? -Infinity) && value <= (level.atMost ?? Infinity);
}
