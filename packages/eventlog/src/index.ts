export { EhdbError, isEhdbError } from "@ehdb/contracts";
export type {
  AppendOptions,
  AppendResult,
  Consumer,
  ConsumerInfo,
  ErrorCode,
  EventFilter,
  EventLog,
  EventShape,
  EventStream,
  Expectation,
  ImportedEvent,
  ImportEventsResult,
  ImportOptions,
  LogCheckpoint,
  NewEvent,
  ReadStreamOptions,
  ReclaimOptions,
  RecordedEvent,
  ScanEventsOptions,
  StreamInfo,
  SubscribeOptions,
  Subscription,
  WriteBatch,
} from "@ehdb/contracts";
export { eventLogDatasets } from "./datasets.ts";
export type { DurableEventLog } from "./durable.ts";
export type { EventLogReader } from "./event-log-reader.ts";
export { eventLogOn, openEventLog } from "./open-event-log.ts";
export type { EventLogOptions, SharedEventLogOptions } from "./open-event-log.ts";
export { eventLogReaderOn, openEventLogReader } from "./open-event-log-reader.ts";
export type { EventLogReaderOptions } from "./open-event-log-reader.ts";
export { referenceEventLog } from "./reference.ts";
export type { ReferenceEventLogOptions } from "./reference.ts";
export type { EventSchemas } from "./schemas.ts";
export type { EventUpcasters, Upcaster } from "./upcasters.ts";
