import { EhdbError } from "@ehdb/contracts";
import type { Batches } from "@ehdb/contracts";
import type { ReadContext } from "../read-context.ts";
import type { Overtaken } from "./followed-store.ts";
import type { Moment } from "./moment.ts";

/** What reads need of the reader around them. */
export interface ResumedContext {
  /** Reads of one moment, or of an earlier revision as far as it's still there. */
  at(moment: Moment, revision?: number): ReadContext;
  now(): Moment;
  hold(): Moment;
  letGo(moment: Moment): Promise<void>;
  /** Why a read of a moment failed: when a part was merged away, it can go on in what there is now. */
  whyOvertaken(error: unknown, moment: Moment): Promise<Overtaken | undefined>;
  reading<T>(begin: () => AsyncGenerator<readonly T[]>, signal: AbortSignal | undefined): Batches<T>;
}

/** A question that is asked again of what there is now. */
export async function once<T>(context: ResumedContext, ask: (moment: Moment) => Promise<T>): Promise<T> {
  for (;;) {
    const moment = context.hold();
    try {
      return await ask(moment);
    } catch (error) {
      if ((await context.whyOvertaken(error, moment)) === undefined) throw error;
    } finally {
      await context.letGo(moment);
    }
  }
}

/** A read that can go on in a later moment. */
export interface ResumableRead<T, O> {
  readonly options: O;
  /** From `moment`, with the options of what isn't given yet. COMPACTED when it may lack what the read's own moment had. */
  readonly read: (moment: Moment, rest: O, begun: Begun) => AsyncIterable<readonly T[]>;
  /** The options of what comes behind `records`; `undefined` when nothing does. */
  readonly behind: (rest: O, records: readonly T[]) => O | undefined;
  /** What is newer than the read comes at its end, and is left out. */
  readonly isRising: boolean;
}

/** What is known of a read's own moment, and how far it is. */
export interface Begun {
  readonly revision: number;
  /** The dataset's floor then. */
  readonly floor: number;
  /** It goes on in a later moment. */
  readonly isResumed: boolean;
  readonly hasGiven: boolean;
}

/** A read that goes on in what there is now when the writer has merged a part away. */
export async function* resumed<T extends { readonly revision: number }, O>(
  context: ResumedContext,
  dataset: string,
  { options, read, behind, isRising }: ResumableRead<T, O>,
): AsyncGenerator<readonly T[]> {
  let rest: O | undefined = options;
  let begun: Begun | undefined;
  while (rest !== undefined) {
    const moment = context.hold();
    // Of the first moment, also when nothing could be given of it.
    begun =
      begun === undefined
        ? { revision: moment.revision, floor: moment.floorOf(dataset), isResumed: false, hasGiven: false }
        : { ...begun, isResumed: true, hasGiven: rest !== options };
    try {
      for await (const all of read(moment, rest, begun)) {
        const records = isRising ? upTo(all, begun.revision) : all;
        if (records.length > 0) {
          rest = behind(rest, records);
          yield records;
        }
        if (rest === undefined || records.length < all.length) return;
      }
      return;
    } catch (error) {
      const why = rest === undefined ? undefined : await context.whyOvertaken(error, moment);
      if (why === undefined) throw error;
      if (why === "replaced") throw replaced(dataset, error);
    } finally {
      await context.letGo(moment);
    }
  }
}

function replaced(dataset: string, cause: unknown): EhdbError {
  const message = `another copy of the store took its place while ${dataset} was read. Reconcile what was made of the records of before, then read again`;
  return new EhdbError("TRUNCATED", message, { dataset }, cause);
}

function upTo<T extends { readonly revision: number }>(records: readonly T[], revision: number): readonly T[] {
  if ((records.at(-1)?.revision ?? 0) <= revision) return records;
  return records.slice(
    0,
    records.findIndex((record) => record.revision > revision),
  );
}
