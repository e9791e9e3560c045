import type { ConformanceRule } from "../conformance.ts";
import type { Feed, FeedCapability } from "../feed.ts";

/** A record as rules append it. Its key is its subject, unless it has one of its own. */
export interface RuleRecord {
  readonly subject: string;
  readonly key?: string;
}

/** What a rule is checked on: a feed without groups over a source of its own that is empty, and what a rule must be able to do around it. */
export interface FeedSubject {
  readonly feed: Feed<unknown>;
  /** Appends to the source, in this order; resolves with the last sequence. Sequences are dense from 1. */
  readonly append: (...records: readonly RuleRecord[]) => Promise<number>;
  /** Drops the source's records before a sequence. */
  readonly dropBefore: (sequence: number) => Promise<void>;
  /** The host's wall clock. */
  readonly now: () => number;
  /** Lets time pass for feed and source: the clock is moved, or, on a live one, waited for. */
  readonly advance: (millis: number) => Promise<void>;
  /** Opens the same feed again after `feed.close()`; without `persistence` one without groups. */
  readonly reopen: () => Promise<FeedSubject>;
  /** Closes feed and source. */
  readonly close: () => Promise<void>;
}

export type FeedRule = ConformanceRule<FeedSubject, FeedCapability>;
