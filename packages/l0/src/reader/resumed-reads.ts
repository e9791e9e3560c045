import type { Batches } from "@ehdb/contracts";
import type { ReadContext } from "../read-context.ts";
import type { Moment } from "./moment.ts";

/** What reads need of the reader around them. */
export interface ResumedContext {
  /** Reads of one moment, or of an earlier revision as far as it's still there. */
  at(moment: Moment, revision?: number): ReadContext;
  now(): Moment;
  hold(): Moment;
  letGo(moment: Moment): Promise<void>;
  /** Whether a read failed only because the writer has merged a part away: then it can go on in what there is now. */
  isOvertaken(error: unknown): Promise<boolean>;
  reading<T>(begin: () => AsyncGenerator<readonly T[]>, signal: AbortSignal | undefined): Batches<T>;
}

/** A question that is asked again of what there is now. */
export async function once<T>(context: ResumedContext, ask: (moment: Moment) => Promise<T>): Promise<T> {
  for (;;) {
    const moment = context.hold();
    try {
      return await ask(moment);
    } catch (error) {
      if (!(await context.isOvertaken(error))) throw error;
    } finally {
      await context.letGo(moment);
    }
  }
}

/** A read that can go on in a later moment. */
export interface ResumableRead<T, O> {
  readonly options: O;
  /** From `moment`, with the options of what isn't given yet. COMPACTED when it may lack what the read's own moment had. */
  read(moment: Moment, rest: O, begun: Begun): AsyncIterable<readonly T[]>;
  /** The options of what comes behind `records`; `undefined` when nothing does. */
  behind(rest: O, records: readonly T[]): O | undefined;
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
      if (rest === undefined || !(await context.isOvertaken(error))) throw error;
    } finally {
      await context.letGo(moment);
    }
  }
}

function upTo<T extends { readonly revision: number }>(records: readonly T[], revision: number): readonly T[] {
  if ((records.at(-1)?.revision ?? 0) <= revision) return records;
  return records.slice(
    0,
    records.findIndex((record) => record.revision > revision),
  );
}
