import type { EventLog, EventLogCapability } from "../event-log.ts";
import { errorOf } from "../rule-checks.ts";
import { refusals } from "./refusals.ts";
import type { EventLogRule, EventLogSubject } from "./subject.ts";

export { holds, refused, same } from "../rule-checks.ts";

type Check = (log: EventLog, subject: EventLogSubject) => Promise<void>;

/** A rule of every driver, or of those that have what it needs. Without it, what it needs must be refused. */
export function claim(name: string, check: Check, ...needs: readonly EventLogCapability[]): EventLogRule {
  const rule = { name, needs, check: onSubject(check) };
  if (needs.length === 0) return rule;
  return { ...rule, refused: onSubject((log, subject) => anyRefused(needs, log, subject)) };
}

/** A driver lacks at least one of these, and which isn't said: one must be refused as it should be. */
async function anyRefused(
  needs: readonly EventLogCapability[],
  log: EventLog,
  subject: EventLogSubject,
): Promise<void> {
  const failures: unknown[] = [];
  for (const need of needs) {
    const failure = await errorOf(() => refusals[need](log, subject));
    if (failure === undefined) return;
    failures.push(failure);
  }
  throw failures[0];
}

function onSubject(check: Check): (open: () => Promise<EventLogSubject>) => Promise<void> {
  return async (open) => {
    const subject = await open();
    try {
      await check(subject.log, subject);
    } finally {
      await subject.log.close();
    }
  };
}

/** Closes the log, opens it again, and closes that one at the end. */
export async function afterReopening(
  subject: EventLogSubject,
  check: (again: EventLog) => Promise<void>,
): Promise<void> {
  await subject.log.close();
  const { log } = await subject.reopen();
  try {
    await check(log);
  } finally {
    await log.close();
  }
}
