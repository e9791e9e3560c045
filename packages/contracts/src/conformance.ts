/**
 * One rule of a contract as data, without a test runner, so that a driver's tests and a check of a live
 * installation run the same rules.
 *
 * `Subject` is what the driver's factory opens; `Capability` names what a driver may or may not support.
 */
export interface ConformanceRule<Subject, Capability extends string = string> {
  /** A plain claim: "a conflict says which version is there". */
  readonly name: string;
  /** What the driver must support for `check` to apply. */
  readonly needs: readonly Capability[];
  /** Throws when the claim doesn't hold. */
  readonly check: (open: () => Promise<Subject>) => Promise<void>;
  /** Run instead of `check` by a driver that lacks a need: the call must be refused with the right code. */
  readonly refused?: (open: () => Promise<Subject>) => Promise<void>;
}

/** How one rule went. */
export type ConformanceOutcome =
  | { readonly rule: string; readonly outcome: "passed" | "refused as declared" }
  | { readonly rule: string; readonly outcome: "failed"; readonly error: unknown };

/** Runs the rules one after the other; a driver that lacks a need gets the opposite rule. */
export async function runConformance<Subject, Capability extends string>(
  rules: readonly ConformanceRule<Subject, Capability>[],
  supports: ReadonlySet<Capability>,
  open: () => Promise<Subject>,
): Promise<ConformanceOutcome[]> {
  const outcomes: ConformanceOutcome[] = [];
  for (const rule of rules) {
    const able = rule.needs.every((need) => supports.has(need));
    const check = able ? rule.check : rule.refused;
    if (check === undefined) {
      const error = new Error(`rule "${rule.name}" needs ${rule.needs.join(", ")} and has no opposite`);
      outcomes.push({ rule: rule.name, outcome: "failed", error });
      continue;
    }
    try {
      await check(open);
      outcomes.push({ rule: rule.name, outcome: able ? "passed" : "refused as declared" });
    } catch (error) {
      outcomes.push({ rule: rule.name, outcome: "failed", error });
    }
  }
  return outcomes;
}
