import { isEhdbError } from "@ehdb/contracts";
import { exitCodes, SelfcheckError, worstOutcome } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import { makeStep } from "./report.ts";
import type { Facts, Report, Step, StepInput } from "./report.ts";

/** Collects the steps of one verb. A step that isn't ok makes the verb "not equal", unless it says otherwise. */
export class Checks {
  readonly #steps: Step[] = [];
  readonly #outcomes: Outcome[] = [];
  readonly #strict: boolean;
  #facts: Partial<Facts>;
  #disabled = false;

  constructor(strict: boolean, facts: Partial<Facts> = {}) {
    this.#strict = strict;
    this.#facts = facts;
  }

  /** Facts that the report has beside its steps. */
  tell(facts: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  step(input: StepInput, outcomeWhenNotOk: Outcome = "not equal"): void {
    const step = makeStep(input, this.#strict);
    this.#steps.push(step);
    if (!step.ok) this.#outcomes.push(outcomeWhenNotOk);
  }

  /** The verb was switched off: nothing is checked, and that isn't a failure. */
  disable(by: string): void {
    this.#disabled = true;
    this.step({ name: "disabled", message: `by ${by}` });
  }

  /** The error that ended the verb, as its last row. An abort isn't a finding and goes on up. */
  failed(name: string, error: unknown): void {
    if (isEhdbError(error, "ABORTED")) throw error;
    const outcome = error instanceof SelfcheckError ? error.outcome : "unavailable";
    this.step({ name, ok: false, message: describeError(error) }, outcome);
  }

  report(verb: string, seed: number, seconds: number): Report {
    const outcome = this.#disabled ? "disabled" : worstOutcome(this.#outcomes);
    return { verb, ok: exitCodes[outcome] === 0, outcome, seed, seconds, ...this.#facts, steps: this.#steps };
  }
}

/** What a user would see of an error: the stable code first, where there is one. */
export function describeError(error: unknown): string {
  if (error instanceof SelfcheckError) return error.message;
  if (isEhdbError(error, "LOCKED")) {
    return `LOCKED: ${error.message}. Somebody else has it open, so nothing was judged`;
  }
  if (isEhdbError(error)) return `${error.code}: ${error.message}`;
  if (error instanceof Error) return error.message.length > 0 ? error.message : error.name;
  return String(error);
}
