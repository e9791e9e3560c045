import { shape } from "@ehdb/harness";
import type { Result } from "@ehdb/harness";

export interface Held {
  readonly violations: number;
  /** How many things were looked at. */
  readonly population: number;
}

/** An invariant, and a run that must come out bad: an instrument that doesn't see that proves nothing. */
export function invariantRows(
  name: string,
  what: string,
  ours: Held,
  control: Held & { readonly what: string },
): Result[] {
  const unit = "violations (0 is right)";
  return [
    {
      name,
      value: ours.violations,
      unit,
      n: ours.population,
      note: `${what}; population=${ours.population}`,
      verdicts: [
        shape(`${ours.violations} violations = 0`, ours.violations === 0),
        shape(`population=${ours.population} > 0`, ours.population > 0),
      ],
    },
    {
      name: `${name}.control`,
      value: control.violations,
      unit: "violations (there must be some)",
      n: control.population,
      control: true,
      note: `${control.what}; population=${control.population}`,
      verdicts: [shape(`${control.violations} violations > 0`, control.violations > 0)],
    },
  ];
}
