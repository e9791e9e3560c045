import { invalidArgument, invalidOption, refuseUnknown } from "@ehdb/contracts";
import type { Engine, Feed, FeedSource, FeedState, GroupOptions } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { EngineGroup } from "./engine-group.ts";
import type { EngineConsumerGroup } from "./engine-group.ts";
import { EngineFeedState, feedDatasets } from "./engine-state.ts";
import { DurableGroup } from "./group.ts";
import { StatefulFeed } from "./feed.ts";
import { checkSource } from "./call-options.ts";

/** A feed whose groups are in an engine. */
export interface EngineFeed<R> extends Feed<R> {
  createGroup(name: string, options?: GroupOptions): Promise<EngineConsumerGroup<R>>;
  group(name: string): Promise<EngineConsumerGroup<R>>;
}

/** A feed with an engine of its own. */
export interface DurableFeed<R> extends EngineFeed<R> {
  /** For `state`, `stats()`, `setDurability()`, and `reopen()` after POISONED. */
  readonly engine: DurableEngine;
}

export interface SharedFeedOptions<R> {
  readonly source: FeedSource<R>;
  /** Of several feeds on one engine: 1 to 64 characters of `a-z`, `0-9`, `-`, `_`, `.`. Default `feed`. Groups are found by it again. */
  readonly name?: string;
  /** The engine's. Default: this machine. */
  readonly host?: Host;
}

export interface FeedOptions<R> extends Omit<EngineOptions, "datasets"> {
  readonly source: FeedSource<R>;
}

export interface StatefulFeedOptions<R> {
  readonly source: FeedSource<R>;
  readonly state: FeedState;
  /** Default: this machine. */
  readonly host?: Host;
}

const known = {
  source: true,
  dir: true,
  create: true,
  host: true,
  durability: true,
  sealMaxBytes: true,
  sealMaxCommits: true,
  sealMaxAgeSeconds: true,
  dedupeWindow: true,
  blockCacheBytes: true,
  compression: true,
  encryption: true,
  maxInFlightBytes: true,
  reserveBytes: true,
  sealReserveBytes: true,
  manifestRetain: true,
  background: true,
  historyRevisions: true,
  pinIdleSeconds: true,
  blockingSync: true,
  lockTimeoutMillis: true,
} satisfies Record<keyof FeedOptions<unknown>, true>;

/**
 * Opens a feed that keeps its groups in a directory of its own, making it when there is none, and locks it; its close leaves the source open. Errors: INVALID_OPTION,
 * LOCKED, CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR, NO_SPACE, and with `create: false` NOT_FOUND.
 */
export async function openFeed<R>(options: FeedOptions<R>): Promise<DurableFeed<R>> {
  refuseUnknown(options, Object.keys(known), "");
  const { source, ...engineOptions } = options;
  checkSource(source);
  const host = hostOf(options.host);
  const engine = await openEngine({ ...engineOptions, host, datasets: feedDatasets });
  const release = async (): Promise<void> => {
    const { reason } = await engine.close();
    if (reason !== undefined) throw reason;
  };
  try {
    const feed = await open(engine, { source, name: "feed", host }, release);
    return Object.assign(feed, { engine });
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * A feed that keeps its groups in an engine that others use too: it has `feedDatasets` among its own. The source may be of the same engine. Its close leaves
 * engine and source open. INVALID_ARGUMENT when the engine has one of this name open.
 */
export async function feedOn<R>(engine: Engine, options: SharedFeedOptions<R>): Promise<EngineFeed<R>> {
  refuseUnknown(options, ["source", "name", "host"] satisfies (keyof SharedFeedOptions<R>)[], "");
  const { source, name = "feed" } = options;
  if (typeof (Object(engine) as Partial<Engine>).commit !== "function")
    throw invalidArgument("engine", engine, "an engine: openEngine() of @ehdb/l0");
  checkSource(source);
  if (typeof name !== "string" || !/^[a-z0-9._-]{1,64}$/.test(name))
    throw invalidOption("name", name, "1 to 64 characters of a-z, 0-9, -, _, .");
  return await open(engine, { source, name, host: hostOf(options.host) }, async () => undefined);
}

/** A feed that keeps its groups in any store that is a `FeedState`, which stays open after its close. */
export async function statefulFeed<R>(options: StatefulFeedOptions<R>): Promise<Feed<R>> {
  refuseUnknown(options, ["source", "state", "host"] satisfies (keyof StatefulFeedOptions<R>)[], "");
  const { source, state } = options;
  checkSource(source);
  if (typeof (Object(state) as Partial<FeedState>).write !== "function")
    throw invalidOption("state", state, "a FeedState");
  const { clock } = hostOf(options.host);
  const makeGroup = (contents: ConstructorParameters<typeof DurableGroup<R>>[0]): DurableGroup<R> =>
    new DurableGroup<R>(contents);
  const feed = new StatefulFeed<R, DurableGroup<R>>({
    source,
    state,
    clock,
    makeGroup,
    release: async () => undefined,
  });
  await feed.load();
  return feed;
}

/** Names of the feeds that engines have open. */
const inUse = new WeakMap<Engine, Set<string>>();

async function open<R>(
  engine: Engine,
  { source, name, host }: Required<SharedFeedOptions<R>>,
  release: () => Promise<void>,
): Promise<StatefulFeed<R, EngineGroup<R>>> {
  const names = inUse.get(engine) ?? new Set();
  inUse.set(engine, names);
  if (names.has(name))
    throw invalidArgument("name", name, "one that this engine hasn't open already: share that feed, or close it first");
  names.add(name);
  const state = new EngineFeedState(engine, name);
  try {
    const feed = new StatefulFeed<R, EngineGroup<R>>({
      source,
      state,
      clock: host.clock,
      makeGroup: (contents) => new EngineGroup<R>(contents, state),
      release: async () => {
        names.delete(name);
        await release();
      },
    });
    await feed.load();
    return feed;
  } catch (error) {
    names.delete(name);
    throw error;
  }
}
