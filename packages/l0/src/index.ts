export { EhdbError, isEhdbError } from "@ehdb/contracts";
export type {
  Appended,
  Batches,
  Commit,
  DatasetOrder,
  DatasetSpec,
  Engine,
  ErrorCode,
  Expectation,
  ImportedRecord,
  ImportOptions,
  ImportResult,
  LogDataset,
  LogReadOptions,
  LogRecord,
  MapDataset,
  MapRecord,
  MapScanOptions,
  NewRecord,
  WriteBatch,
} from "@ehdb/contracts";
export type {
  CloseReport,
  DurableEngine,
  EngineHeads,
  EngineOptions,
  EngineRecovery,
  EngineState,
  EngineStats,
} from "./api.ts";
export type { BackupOptions, BackupReport } from "./care/backup.ts";
export { backupStore } from "./care/backup-store.ts";
export type { BackupStoreOptions } from "./care/backup-store.ts";
export { restoreStore } from "./care/restore-store.ts";
export type { RestoreReport, RestoreStoreOptions } from "./care/restore-store.ts";
export type { StoreDamage } from "./care/damage.ts";
export { inspectStore } from "./care/inspect-store.ts";
export type { DatasetFacts, InspectStoreOptions, JournalFacts, LevelFacts, StoreFacts } from "./care/inspect-store.ts";
export type { StoreFile } from "./care/store-files.ts";
export type { ScrubOptions, VerifyEngineOptions } from "./care/verify-engine.ts";
export type { StoreLoss } from "./care/salvage/loss.ts";
export { salvageStore } from "./care/salvage/salvage-store.ts";
export type { SalvageStoreOptions, SalvageStoreReport } from "./care/salvage/salvage-store.ts";
export { verifyStore } from "./care/verify-store.ts";
export type { StoreReport, VerifyStoreOptions } from "./care/verify-store.ts";
export type { EngineReader, EngineReaderOptions, EngineReaderStats } from "./reader/api.ts";
export { prometheusContentType, prometheusText } from "./prometheus.ts";
export { openEngine } from "./open-engine.ts";
export { openEngineReader } from "./reader/open-engine-reader.ts";
export { referenceEngine } from "./reference.ts";
