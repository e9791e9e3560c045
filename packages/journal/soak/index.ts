import type { Soak } from "@ehdb/harness";
import { runSoak } from "./run.ts";

/** A journal under constant mixed load. */
export const soak: Soak = { tier: "journal", controls: [], run: runSoak };
