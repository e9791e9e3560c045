import type { EngineStats } from "./api.ts";
import { metrics } from "./metrics.ts";

/** For the header `Content-Type` of what `prometheusText` gives. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

const prefix = "ehdb_l0_";

/** Seconds. */
const lagBounds = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Figures of an engine as Prometheus reads them, in its text format 0.0.4: each with HELP and TYPE, under the prefix `ehdb_l0_`. Of `stats()` it
 * gives all that there are, with the histogram that replication will fill; of some of them no more than these.
 */
export function prometheusText(stats: EngineStats | Partial<Omit<EngineStats, "errors">>): string {
  const lines: string[] = [];
  for (const [name, [kind, help]] of Object.entries(metrics)) {
    const value = stats[name as keyof typeof stats];
    if (value !== undefined) lines.push(...familyOf(name, kind, help), `${prefix}${name} ${value}`);
  }
  if ("errors" in stats) lines.push(...errorsIn(stats), ...emptyLag());
  return lines.map((line) => `${line}\n`).join("");
}

function familyOf(name: string, kind: string, help: string): string[] {
  return [`# HELP ${prefix}${name} ${help}`, `# TYPE ${prefix}${name} ${kind}`];
}

function errorsIn({ errors }: EngineStats): string[] {
  const counts = Object.entries(errors).map(([code, count]) => `${prefix}errors{code="${code}"} ${count}`);
  return [...familyOf("errors", "counter", "Calls that ended with an error, by its code."), ...counts];
}

function emptyLag(): string[] {
  const name = "replicated_lag";
  return [
    ...familyOf(
      name,
      "histogram",
      "Seconds from a seal to its copy elsewhere. Replication will fill it; until then it is empty.",
    ),
    ...[...lagBounds, "+Inf"].map((bound) => `${prefix}${name}_bucket{le="${bound}"} 0`),
    `${prefix}${name}_sum 0`,
    `${prefix}${name}_count 0`,
  ];
}
