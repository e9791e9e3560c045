export { EhdbError, isEhdbError } from "@ehdb/contracts";
export type { ErrorCode } from "@ehdb/contracts";
export type * from "./api.ts";
export { openJournal } from "./journal.ts";
export { openJournalReader } from "./reader.ts";
export { verifyJournal } from "./verify-journal.ts";
export { decryptionKeys, keyRing } from "./key-ring.ts";
export { salvage } from "./salvage.ts";
export { EngineTime } from "./engine-time.ts";
