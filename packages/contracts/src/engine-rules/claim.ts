import type { ConformanceRule } from "../conformance.ts";
import type { DatasetSpec, Engine } from "../engine.ts";
import { EhdbError } from "../errors.ts";
import type { ErrorCode } from "../errors.ts";

/** What an engine may do without: nothing so far. */
export type EngineCapability = never;

export type EngineRule = ConformanceRule<Engine, EngineCapability>;

/** What the factory that is given to a rule opens, empty each time. */
export const engineRuleDatasets: readonly DatasetSpec[] = [
  { name: "events", order: "by-sort" },
  { name: "more", order: "by-sort" },
  { name: "state", order: "by-key" },
  { name: "other", order: "by-key" },
];

/** The dedupe window of what the factory opens, in records. */
export const engineRuleDedupeWindow = 8;

/** A rule that every engine keeps. */
export function claim(name: string, check: (engine: Engine) => Promise<void>): EngineRule {
  return {
    name,
    needs: [],
    check: async (open) => {
      const engine = await open();
      try {
        await check(engine);
      } finally {
        await engine.close();
      }
    },
  };
}

/** Compares as JSON does, and tells undefined from null. */
export function same(what: string, actual: unknown, expected: unknown): void {
  const [is, ought] = [shown(actual), shown(expected)];
  if (is !== ought) throw new Error(`${what}: ${is} instead of ${ought}`);
}

/** Calls, and wants an EhdbError of this code, thrown or rejected with; returns it. */
export async function refused(code: ErrorCode, what: string, call: () => unknown): Promise<EhdbError> {
  const error = await errorOf(call);
  if (error === undefined) throw new Error(`${what}: went well instead of ${code}`);
  if (!(error instanceof EhdbError)) throw new Error(`${what}: another error instead of ${code}`, { cause: error });
  if (error.code !== code) throw new Error(`${what}: ${error.code} instead of ${code}`, { cause: error });
  return error;
}

/** What a call throws or rejects with; undefined when it goes well. */
export async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Lets what is ready to run do so, without any clock. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 100; i++) await Promise.resolve();
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (part === undefined ? "(undefined)" : part));
}
