export type * from "./api.ts";
export { openJournal } from "./journal.ts";
export { openJournalReader } from "./reader.ts";
export { salvage } from "./salvage.ts";
export { EngineTime } from "./engine-time.ts";
