/** What `--json` prints, for programs that read it. */
export type { Outcome } from "./outcome.ts";
export type { Report, Step } from "./report.ts";
