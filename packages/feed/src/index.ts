export { EhdbError, isEhdbError } from "@ehdb/contracts";
export type {
  ConsumerGroup,
  ErrorCode,
  Feed,
  FeedMessage,
  FeedSource,
  FeedStart,
  FeedState,
  FeedStateChange,
  FeedStateEntry,
  FetchOptions,
  GroupInfo,
  GroupOptions,
  ParkedMessage,
} from "@ehdb/contracts";
export { feedDatasets } from "./engine-state.ts";
export type { EngineConsumerGroup } from "./engine-group.ts";
export { feedOn, openFeed, statefulFeed } from "./open-feed.ts";
export type { DurableFeed, EngineFeed, FeedOptions, SharedFeedOptions, StatefulFeedOptions } from "./open-feed.ts";
export { feedMetrics, prometheusContentType } from "./metrics.ts";
export type { FeedMetricsOptions, FeedShard } from "./metrics.ts";
export { referenceFeed } from "./reference.ts";
export type { ReferenceFeedOptions } from "./reference.ts";
export { eventLogSource, logSource } from "./sources.ts";
