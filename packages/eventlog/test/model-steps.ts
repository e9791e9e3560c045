import type { EventFilter } from "@ehdb/contracts";
import fc from "fast-check";

export const streams: readonly string[] = ["a", "ab", "b", "é", "a\u{10000}"];
export const consumers: readonly string[] = ["one", "two"];
const ids = ["1", "2", "3", "4", "5"];

export type Guess = "any" | "none" | "exists" | "right" | "before" | "after" | "zero";
export type Way = "again" | "shorter" | "without the first" | "backwards" | "longer" | "elsewhere";

export interface AppendChoice {
  readonly kind: "append";
  readonly stream: string;
  readonly guess: Guess;
  readonly events: readonly { readonly id?: string; readonly data: number }[];
}

/** Changes that need not wait for each other. */
export type Change =
  | AppendChoice
  /** An append of before, or nearly. */
  | { readonly kind: "repeat"; readonly back: number; readonly way: Way; readonly guess: Guess | undefined }
  | { readonly kind: "delete"; readonly stream: string; readonly guess: Guess }
  | { readonly kind: "truncate"; readonly stream: string; readonly before: number }
  | {
      readonly kind: "reclaim";
      readonly maxEvents?: number;
      readonly acknowledged?: boolean;
      readonly maxAge?: number;
    };

/** A place among those that there have been. */
export type Place = { readonly position: number; readonly life: number | undefined };

export type Step =
  | { readonly kind: "change"; readonly change: Change }
  | { readonly kind: "together"; readonly changes: readonly Change[] }
  | { readonly kind: "ack"; readonly consumer: string; readonly position: number }
  | { readonly kind: "forget"; readonly consumer: string }
  | { readonly kind: "tail"; readonly consumer: string; readonly filter: EventFilter }
  | {
      readonly kind: "read";
      readonly stream: string;
      readonly options: {
        readonly direction?: "forwards" | "backwards";
        readonly from?: number;
        readonly limit?: number;
      };
    }
  | { readonly kind: "scan"; readonly filter: EventFilter; readonly after?: Place; readonly limit?: number }
  | { readonly kind: "scan backwards"; readonly filter: EventFilter; readonly before?: number; readonly limit?: number }
  | { readonly kind: "subscribe"; readonly filter: EventFilter; readonly after?: Place; readonly change: Change }
  | { readonly kind: "wait"; readonly millis: number }
  | { readonly kind: "reopen" };

/** Histories of at most so many steps. */
export function steps(most: number): fc.Arbitrary<Step[]> {
  const just = fc.constant;
  const stream = fc.constantFrom(...streams);
  const consumer = fc.constantFrom(...consumers);
  const guess = fc.constantFrom<Guess[]>("any", "any", "none", "exists", "right", "right", "before", "after", "zero");
  const data = fc.nat(1);
  const bare = fc.record({ data });
  const named = fc.uniqueArray(fc.record({ id: fc.constantFrom(...ids), data }), {
    selector: ({ id }) => id,
    minLength: 1,
    maxLength: 3,
  });
  const events = fc.oneof(
    fc.array(bare, { minLength: 1, maxLength: 3 }),
    { weight: 2, arbitrary: named },
    fc.tuple(named, bare).map(([some, one]) => [...some, one]),
  );
  const append = fc.record({ kind: just("append" as const), stream, guess, events });
  const way = fc.constantFrom<Way[]>(
    "again",
    "again",
    "again",
    "shorter",
    "without the first",
    "backwards",
    "longer",
    "elsewhere",
  );
  const repeat = fc.record({
    kind: just("repeat" as const),
    back: fc.nat(6),
    way,
    guess: fc.option(guess, { nil: undefined }),
  });
  const remove = fc.record({ kind: just("delete" as const), stream, guess });
  const truncate = fc.record({ kind: just("truncate" as const), stream, before: fc.nat(8) });
  const reclaim = fc.record(
    {
      kind: just("reclaim" as const),
      maxEvents: fc.nat(20),
      acknowledged: fc.boolean(),
      maxAge: fc.nat(4),
    },
    { requiredKeys: ["kind"] },
  );
  const change: fc.Arbitrary<Change> = fc.oneof(
    { weight: 8, arbitrary: append },
    { weight: 4, arbitrary: repeat },
    remove,
    truncate,
  );
  const limit = fc.nat(5);
  const filter = fc.oneof(
    just({}),
    fc.record(
      {
        types: fc.constantFrom(["even"], ["odd"], ["odd", "even"], ["never"]),
        stream,
        streamPrefix: fc.constantFrom("", "a", "ab", "x"),
      },
      { requiredKeys: [] },
    ),
  );
  const place = fc.record({ position: fc.nat(30), life: fc.option(fc.nat(4), { nil: undefined }) });
  const readOptions = fc.record(
    { direction: fc.constantFrom("forwards" as const, "backwards" as const), from: fc.nat(9), limit },
    { requiredKeys: [] },
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 12, arbitrary: fc.record({ kind: just("change" as const), change }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: just("together" as const),
        changes: fc.array(change, { minLength: 2, maxLength: 6 }),
      }),
    },
    fc.record({ kind: just("change" as const), change: reclaim }),
    { weight: 2, arbitrary: fc.record({ kind: just("ack" as const), consumer, position: fc.nat(25) }) },
    fc.record({ kind: just("forget" as const), consumer }),
    fc.record({ kind: just("tail" as const), consumer, filter }),
    fc.record({ kind: just("read" as const), stream, options: readOptions }),
    fc.record({ kind: just("scan" as const), filter, after: place, limit }, { requiredKeys: ["kind", "filter"] }),
    fc.record(
      { kind: just("scan backwards" as const), filter, before: fc.nat(30), limit },
      { requiredKeys: ["kind", "filter"] },
    ),
    fc.record(
      { kind: just("subscribe" as const), filter, after: place, change },
      { requiredKeys: ["kind", "filter", "change"] },
    ),
    fc.record({ kind: just("wait" as const), millis: fc.nat(3000) }),
    fc.record({ kind: just("reopen" as const) }),
  );
  return fc.array(step, { maxLength: most, size: "max" });
}
