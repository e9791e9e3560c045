import { EhdbError } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";
import type { EventLog, EventLogCapability } from "../event-log.ts";
import { refusals } from "./refusals.ts";
import type { EventLogRule, EventLogSubject } from "./subject.ts";

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

export function holds(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

/** Compares by structure; bytes are only like bytes. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (!isSame(actual, expected)) throw new Error(`${what}: ${shown(actual)} instead of ${shown(expected)}`);
}

/** Calls, and wants an EhdbError of this code, thrown or rejected with; returns it. */
export async function refused(code: ErrorCode, what: string, call: () => unknown): Promise<EhdbError> {
  const error = await errorOf(call);
  if (error === undefined) throw new Error(`${what}: went well instead of ${code}`);
  if (error instanceof EhdbError && error.code === code) return error;
  const got = error instanceof Error ? `${error.name} ${error.message}` : typeof error;
  throw new Error(`${what}: ${got} instead of ${code}`, { cause: error });
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b) || a instanceof Uint8Array !== b instanceof Uint8Array) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  const others = b as Readonly<Record<string, unknown>>;
  return left.length === right.length && left.every(([key, value]) => key in b && isSame(value, others[key]));
}

function shown(value: unknown): string {
  const text =
    JSON.stringify(value, (_, part: unknown) => (part === undefined ? "(undefined)" : part)) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}...` : text;
}
