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
  LogDataset,
  LogReadOptions,
  LogRecord,
  MapDataset,
  MapRecord,
  MapScanOptions,
  NewRecord,
  WriteBatch,
} from "@ehdb/contracts";
export type { DurableEngine, EngineHeads, EngineOptions, EngineRecovery, EngineState, EngineStats } from "./api.ts";
export { openEngine } from "./open-engine.ts";
export { referenceEngine } from "./reference.ts";
