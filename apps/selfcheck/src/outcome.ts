/** How a verb, or the whole run, ended. */
export type Outcome = "ok" | "disabled" | "invalid" | "rejected" | "unavailable" | "not equal";

/** Exit codes are API. */
export const exitCodes: Readonly<Record<Outcome, number>> = {
  ok: 0,
  disabled: 0,
  rejected: 3,
  invalid: 4,
  unavailable: 5,
  "not equal": 5,
};

/** The command line itself was wrong, so nothing ran. */
export const USAGE_EXIT_CODE = 2;

/** Causes before consequences: with a wrong configuration the input says little, with bad input the disk says little. */
const priority: readonly Outcome[] = ["invalid", "rejected", "unavailable", "not equal", "ok", "disabled"];

/** The outcome that decides the exit code of a run. */
export function worstOutcome(outcomes: readonly Outcome[]): Outcome {
  return priority.find((outcome) => outcomes.includes(outcome)) ?? "ok";
}

/** A problem that ends a verb, with the outcome it means. */
export class SelfcheckError extends Error {
  override readonly name = "SelfcheckError";
  readonly outcome: Outcome;

  constructor(outcome: Outcome, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
  }
}
