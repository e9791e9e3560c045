import fc from "fast-check";

/** The last but one sorts behind the last by UTF-16, and before it by bytes. */
export const keys: readonly string[] = ["a", "aa", "b", "é", "a\uFFFF", "a\u{10000}"];
export const logs: readonly string[] = ["events", "more"];
export const maps: readonly string[] = ["state", "other"];
const ids = ["1", "2", "3", "4"];

export type Guess = "any" | "none" | "exists" | "right" | "before" | "after" | "zero";

/** One statement of a batch; numbers choose from the lists above. */
export type Statement =
  | {
      readonly kind: "append";
      readonly log: string;
      readonly key: string;
      readonly payload: number;
      readonly id?: string;
    }
  | { readonly kind: "put"; readonly map: string; readonly key: string; readonly payload: number }
  | { readonly kind: "delete"; readonly map: string; readonly key: string }
  | { readonly kind: "expect"; readonly dataset: string; readonly key: string; readonly guess: Guess };

export type Way = "again" | "shorter" | "backwards" | "joined";
const ways: readonly Way[] = ["again", "shorter", "backwards", "joined"];

export type Step =
  | { readonly kind: "commit"; readonly statements: readonly Statement[] }
  /** A batch of before: word for word, its first statements, backwards, or with the batch that came before it. */
  | { readonly kind: "repeat"; readonly back: number; readonly way: Way }
  /** Several commits that don't wait for each other. */
  | { readonly kind: "together"; readonly batches: readonly (readonly Statement[])[] }
  | { readonly kind: "scan"; readonly log: string; readonly options: LogChoice }
  | { readonly kind: "read"; readonly log: string; readonly key: string; readonly options: LogChoice }
  | { readonly kind: "map scan"; readonly map: string; readonly options: MapChoice }
  /** A commit between the steps of reads that were begun before. */
  | { readonly kind: "read over a commit"; readonly statements: readonly Statement[] }
  | { readonly kind: "continue"; readonly log: string; readonly sort: number; readonly life: number }
  | { readonly kind: "reopen" };

interface LogChoice {
  readonly direction?: "forwards" | "backwards";
  readonly from?: number;
  readonly limit?: number;
}

interface MapChoice {
  readonly prefix?: string;
  readonly from?: string;
  readonly before?: string;
  readonly limit?: number;
}

/** Histories of at most so many steps. */
export function steps(payloadCount: number, most: number): fc.Arbitrary<Step[]> {
  const key = fc.constantFrom(...keys);
  const log = fc.constantFrom(...logs);
  const map = fc.constantFrom(...maps);
  const payload = fc.nat(payloadCount - 1);
  const guess = fc.constantFrom<Guess[]>("any", "none", "exists", "right", "right", "before", "after", "zero");
  const just = fc.constant;
  const bare = fc.record({ kind: just("append" as const), log, key, payload });
  const named = fc.record({ kind: just("append" as const), log, key, payload, id: fc.constantFrom(...ids) });
  const put = fc.record({ kind: just("put" as const), map, key, payload });
  const remove = fc.record({ kind: just("delete" as const), map, key });
  const expectation = { kind: just("expect" as const), dataset: fc.oneof(log, map), key, guess };
  const write = fc.oneof(bare, named, put, remove);
  const mixed = fc.array(fc.oneof({ weight: 4, arbitrary: write }, fc.record(expectation)), { maxLength: 5 });
  /** All with ids, so that it may be repeated. */
  const idempotent = fc.array(named, { minLength: 1, maxLength: 3 });
  const statements = fc.oneof({ weight: 3, arbitrary: mixed }, idempotent);

  const limit = fc.integer({ min: -1, max: 8 });
  const logChoice = fc.record(
    {
      direction: fc.constantFrom("forwards" as const, "backwards" as const),
      from: fc.integer({ min: -1, max: 30 }),
      limit,
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(key, fc.constantFrom("", "a\uE000", "\u{10FFFF}"));
  const mapChoice = fc.record({ prefix: text, from: text, before: text, limit }, { requiredKeys: [] });

  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: just("commit" as const), statements }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: just("repeat" as const), back: fc.nat(4), way: fc.constantFrom(...ways) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: just("together" as const), batches: fc.array(statements, { maxLength: 4 }) }),
    },
    fc.record({ kind: just("scan" as const), log, options: logChoice }),
    fc.record({ kind: just("read" as const), log, key, options: logChoice }),
    fc.record({ kind: just("map scan" as const), map, options: mapChoice }),
    fc.record({ kind: just("read over a commit" as const), statements }),
    fc.record({ kind: just("continue" as const), log, sort: fc.nat(30), life: fc.nat(5) }),
    fc.record({ kind: just("reopen" as const) }),
  );
  return fc.array(step, { maxLength: most, size: "max" });
}
