import type { Verb } from "../verb.ts";
import { configVerb } from "./config.ts";
import { eventLogVerb } from "./eventlog.ts";
import { journalVerb } from "./journal.ts";
import { l0Verb } from "./l0.ts";
import { recoveryVerb } from "./recovery.ts";

/** In the order in which they run: what a later one rests on comes first. */
export const verbs: readonly Verb[] = [configVerb, journalVerb, recoveryVerb, l0Verb, eventLogVerb];
