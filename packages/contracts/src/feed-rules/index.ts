import { fetchingRules } from "./fetching.ts";
import { groupRules } from "./groups.ts";
import { redeliveryRules } from "./redelivery.ts";
import { refusalRules } from "./refusals.ts";
import type { FeedRule } from "./subject.ts";
import { waitingRules } from "./waiting.ts";

/** What every feed does, driver by driver the same. */
export const feedRules: readonly FeedRule[] = [
  ...fetchingRules,
  ...redeliveryRules,
  ...groupRules,
  ...waitingRules,
  ...refusalRules,
];

export type { FeedRule, FeedSubject } from "./subject.ts";
