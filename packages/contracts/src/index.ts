export { abortedError, EhdbError, errorKinds, isEhdbError, throwIfAborted } from "./errors.ts";
export type { ErrorCode, ErrorData, ErrorKind } from "./errors.ts";
export type {
  Appended,
  Batches,
  Commit,
  DatasetOrder,
  DatasetSpec,
  Engine,
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
} from "./engine.ts";
export { isAbortSignal, isBytes, isThenable } from "./forms.ts";
export { DEFAULT_IN_FLIGHT_BYTES, KIB, MAX_NAME_BYTES, MAX_SEQUENCE, MAX_WRITE_BYTES, MIB } from "./limits.ts";
export { nearestName } from "./nearest-name.ts";
export { chosen, describedOption, invalidArgument, invalidOption, optionReader, refuseUnknown } from "./options.ts";
export type { OptionReader } from "./options.ts";
export { shown } from "./shown.ts";
export { whenAborted } from "./when-aborted.ts";
export { OPERATION_BYTES } from "./engine.ts";
export { engineRuleDatasets, engineRuleDedupeWindow, engineRules } from "./engine-rules/index.ts";
export type { EngineCapability, EngineRule } from "./engine-rules/index.ts";
export { runConformance } from "./conformance.ts";
export type { ConformanceOutcome, ConformanceRule } from "./conformance.ts";
export type {
  AppendOptions,
  AppendResult,
  Consumer,
  ConsumerInfo,
  EventFilter,
  EventLog,
  EventLogCapability,
  EventShape,
  EventStream,
  ImportedEvent,
  ImportEventsResult,
  LogCheckpoint,
  NewEvent,
  ReadStreamOptions,
  ReclaimOptions,
  RecordedEvent,
  ScanEventsOptions,
  StreamInfo,
  SubscribeOptions,
  Subscription,
} from "./event-log.ts";
export type { FeedState, FeedStateChange, FeedStateEntry } from "./feed-state.ts";
export type {
  ConsumerGroup,
  Feed,
  FeedCapability,
  FeedMessage,
  FeedSource,
  FeedStart,
  FetchOptions,
  GroupInfo,
  GroupOptions,
  ParkedMessage,
} from "./feed.ts";
export { feedRules } from "./feed-rules/index.ts";
export type { FeedRule, FeedSubject } from "./feed-rules/index.ts";
export { eventLogRules } from "./event-log-rules/index.ts";
export type { EventLogRule, EventLogSubject } from "./event-log-rules/index.ts";
