import { eventLogRules, KIB } from "@ehdb/contracts";
import type { EventLogSubject } from "@ehdb/contracts";
import type { Checks } from "../checks.ts";
import { keepRules } from "../conformance.ts";
import type { RuleStage } from "../conformance.ts";
import type { VerbContext } from "../verb.ts";

const dedupeWindow = 64;
/** Every few commits make parts, so that the rules hold of what is sealed too. */
const small = { sealMaxBytes: 64 * KIB, sealMaxCommits: 3 };

export async function keepEventLogRules(context: VerbContext, checks: Checks): Promise<void> {
  const open = async ({ host, directory, advance }: RuleStage): Promise<EventLogSubject> => {
    const subject = async (): Promise<EventLogSubject> => {
      const log = await context.openEventLog({ dir: directory, host, dedupeWindow, ...small });
      return { log, dedupeWindow, advance, reopen: subject };
    };
    return subject();
  };
  const all = ["dedupe", "truncation", "consumers", "reclaim", "import", "persistence"] as const;
  await keepRules(context, checks, eventLogRules, all, open);
}
