export { EhdbError, isEhdbError } from "@ehdb/contracts";
export type {
  ConsumerGroup,
  ErrorCode,
  Feed,
  FeedMessage,
  FeedSource,
  FeedStart,
  FetchOptions,
  GroupInfo,
  GroupOptions,
  ParkedMessage,
} from "@ehdb/contracts";
export { feedMetrics, prometheusContentType } from "./metrics.ts";
export type { FeedMetricsOptions, FeedShard } from "./metrics.ts";
export { referenceFeed } from "./reference.ts";
export type { ReferenceFeedOptions } from "./reference.ts";
export { eventLogSource, logSource } from "./sources.ts";
