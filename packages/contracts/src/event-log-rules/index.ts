import { appendingRules } from "./appending.ts";
import { closingRules } from "./closing.ts";
import { consumerRules } from "./consumers.ts";
import { expectationRules } from "./expectations.ts";
import { idempotencyRules } from "./idempotency.ts";
import { importingRules } from "./importing.ts";
import { limitRules } from "./limits.ts";
import { readingRules } from "./reading.ts";
import { reclaimRules } from "./reclaim.ts";
import { scanningRules } from "./scanning.ts";
import type { EventLogRule } from "./subject.ts";
import { subscriptionRules } from "./subscriptions.ts";
import { truncationRules } from "./truncation.ts";

/** What every event log does, driver by driver the same. */
export const eventLogRules: readonly EventLogRule[] = [
  ...appendingRules,
  ...expectationRules,
  ...idempotencyRules,
  ...readingRules,
  ...scanningRules,
  ...subscriptionRules,
  ...consumerRules,
  ...truncationRules,
  ...reclaimRules,
  ...importingRules,
  ...limitRules,
  ...closingRules,
];

export type { EventLogRule, EventLogSubject } from "./subject.ts";
