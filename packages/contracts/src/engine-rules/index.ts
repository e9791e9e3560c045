import { appendRules } from "./appends.ts";
import { batchRules } from "./batches.ts";
import type { EngineRule } from "./claim.ts";
import { erasureRules } from "./erasures.ts";
import { expectationRules } from "./expectations.ts";
import { idRules } from "./ids.ts";
import { importRules } from "./imports.ts";
import { importRefusalRules } from "./import-refusals.ts";
import { limitRules } from "./limits.ts";
import { logReadRules } from "./log-reads.ts";
import { mapScanRules } from "./map-scans.ts";
import { mapRules } from "./maps.ts";
import { waitingRules } from "./waiting.ts";
import { wrongFormRules } from "./wrong-forms.ts";

export { engineRuleDatasets, engineRuleDedupeWindow } from "./claim.ts";
export type { EngineCapability, EngineRule } from "./claim.ts";

/** What every engine keeps. The factory opens an empty one each time, with `engineRuleDatasets` and `engineRuleDedupeWindow`. */
export const engineRules: readonly EngineRule[] = [
  ...appendRules,
  ...mapRules,
  ...logReadRules,
  ...mapScanRules,
  ...expectationRules,
  ...batchRules,
  ...idRules,
  ...erasureRules,
  ...importRules,
  ...importRefusalRules,
  ...limitRules,
  ...waitingRules,
  ...wrongFormRules,
];
