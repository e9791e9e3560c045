import { join } from "node:path";
import { runConformance, throwIfAborted } from "@ehdb/contracts";
import type { ConformanceRule } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { describeError } from "./checks.ts";
import type { Checks } from "./checks.ts";
import { Problems } from "./problems.ts";
import { removeTree } from "./tree.ts";
import type { VerbContext } from "./verb.ts";

/** So many rules at once, each in a directory of its own: most of their time is waiting for the disk. */
const AT_ONCE = 4;

/** A directory for one rule, on a machine whose clock it can move. */
export interface RuleStage {
  readonly host: Host;
  readonly directory: string;
  readonly advance: (millis: number) => Promise<void>;
}

/** The contract's own rules, on the real directory, as one step. */
export async function keepRules<Subject, Capability extends string>(
  context: VerbContext,
  checks: Checks,
  rules: readonly ConformanceRule<Subject, Capability>[],
  supports: readonly Capability[],
  open: (stage: RuleStage) => Promise<Subject>,
): Promise<void> {
  const problems = new Problems();
  const waiting = rules.entries();
  let done = 0;
  const worker = async (): Promise<void> => {
    for (const [index, rule] of waiting) {
      throwIfAborted(context.signal, "the rules");
      const directory = join(context.directory, `rule-${index}`);
      const [outcome] = await runConformance([rule], new Set(supports), () => open(stage(context.host, directory)));
      if (outcome?.outcome === "failed") problems.add(`"${rule.name}": ${describeError(outcome.error)}`);
      await removeTree(context.host.files, directory);
      done += 1;
      context.progress(done, rules.length);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  checks.step({ name: "rules of the contract, kept", count: done, ok: problems.none, message: problems.text });
}

function stage(host: Host, directory: string): RuleStage {
  let ahead = 0;
  const { files, random, workers, clock } = host;
  const moved = {
    now: () => clock.now() + ahead,
    monotonic: () => clock.monotonic(),
    timer: clock.timer.bind(clock),
    defer: clock.defer.bind(clock),
    yield: () => clock.yield(),
  };
  return {
    host: { files, random, workers, clock: moved },
    directory,
    advance: async (millis) => void (ahead += millis),
  };
}
