import { EhdbError, invalidArgument, invalidOption, refuseUnknown } from "@ehdb/contracts";
import type { Feed, GroupInfo } from "@ehdb/contracts";
import { checkName } from "./call-options.ts";

/** For the header `Content-Type` of what `feedMetrics` gives. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

export interface FeedShard {
  /** 1 to 1 024 bytes of well-formed Unicode, no two the same. A single shard is "0". */
  readonly shard: string;
  readonly feed: Pick<Feed<unknown>, "groups">;
}

export interface FeedMetricsOptions {
  /**
   * The group whose figures the shards and the totals give; a shard without it is left out of them. Default: in each shard the one with the most
   * lag, of several the first by name.
   */
  readonly group?: string;
}

interface ShardGroups {
  readonly shard: string;
  readonly groups: readonly GroupInfo[];
}

type Figures = Pick<GroupInfo, "lag" | "committed" | "inFlight">;

interface ShardFigures extends Figures {
  readonly shard: string;
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

const prefix = "ehdb_feed_";

/** Scalers look for these, and for the totals, by how they begin: no other family's name may begin with one of theirs. */
const shardFamilies: readonly (readonly [name: string, help: string, figure: keyof Figures])[] = [
  ["shard_lag", "Sequences not looked at yet, and messages in flight or waiting, of the shard's group.", "lag"],
  ["shard_committed", "The sequence up to which the shard's group is done.", "committed"],
  ["shard_inflight", "Messages under a lease, of the shard's group.", "inFlight"],
];

const totalFamilies: typeof shardFamilies = [
  ["total_lag", "The lags of the shards, summed.", "lag"],
  ["total_inflight", "Messages under a lease, of all the shards.", "inFlight"],
];

const groupFamilies: readonly (readonly [name: string, help: string, figure: (group: GroupInfo) => number])[] = [
  ["group_lag", "Sequences not looked at yet, and messages in flight or waiting.", ({ lag }) => lag],
  ["group_committed", "The sequence up to which the group is done.", ({ committed }) => committed],
  ["group_delivered", "The sequence up to which all was delivered, or waits for that.", ({ delivered }) => delivered],
  ["group_in_flight", "Messages under a lease.", ({ inFlight }) => inFlight],
  ["group_waiting", "Messages that wait to be delivered again, or behind another one.", ({ waiting }) => waiting],
  ["group_parked", "Messages in the parking lot.", ({ parked }) => parked],
  ["group_paused", "1 while the group is paused, else 0.", ({ isPaused }) => (isPaused ? 1 : 0)],
];

/**
 * Figures of feeds as Prometheus reads them, in its text format 0.0.4, under the prefix `ehdb_feed_`: first of one group of each shard, with totals
 * over the shards; then of every group of every shard. Where no group is named, a shard without groups has 0 in each figure. Shards are in order of
 * their numbers when all are digits only, else of their names' UTF-16 code units. Asks each feed for its `groups()`, once, and for nothing else.
 * INVALID_ARGUMENT, INVALID_OPTION, NOT_FOUND when no shard has the group that is named, and the feeds' own errors.
 */
export async function feedMetrics(shards: readonly FeedShard[], options: FeedMetricsOptions = {}): Promise<string> {
  checkShards(shards);
  const wanted = wantedGroup(options);
  const asked = shards.map(async ({ shard, feed }) => ({ shard, groups: await feed.groups() }));
  const all = inOrder(await Promise.all(asked));
  const told = figuresOf(all, wanted);
  return [...ofShards(told), ...ofTotals(told), ...ofGroups(all)].map((line) => `${line}\n`).join("");
}

function checkShards(shards: readonly FeedShard[]): void {
  if (!Array.isArray(shards) || shards.length === 0)
    throw invalidArgument("shards", shards, "an array of one or more { shard, feed }");
  const names = new Set<string>();
  for (const [index, given] of (shards as readonly unknown[]).entries()) {
    const { shard, feed } = Object(given) as Partial<FeedShard>;
    const name = checkName(`shards[${index}].shard`, shard);
    if (names.has(name)) throw invalidArgument(`shards[${index}].shard`, name, "a name that no other shard has");
    names.add(name);
    if (typeof feed?.groups !== "function") throw invalidArgument(`shards[${index}].feed`, feed, "a feed");
  }
}

function wantedGroup(options: FeedMetricsOptions): string | undefined {
  refuseUnknown(options, ["group"] satisfies (keyof FeedMetricsOptions)[], "");
  const { group } = options;
  if (group === undefined || (typeof group === "string" && group !== "")) return group;
  throw invalidOption("group", group, "the name of a group");
}

function inOrder(shards: readonly ShardGroups[]): readonly ShardGroups[] {
  const areNumbers = shards.every(({ shard }) => /^\d+$/.test(shard));
  const before = (a: string, b: string): boolean =>
    areNumbers && BigInt(a) !== BigInt(b) ? BigInt(a) < BigInt(b) : a < b;
  return shards.toSorted((a, b) => (before(a.shard, b.shard) ? -1 : 1));
}

/** NOT_FOUND. */
function figuresOf(shards: readonly ShardGroups[], wanted: string | undefined): readonly ShardFigures[] {
  if (wanted === undefined) return shards.map(({ shard, groups }) => ({ ...nothing, ...slowest(groups), shard }));
  const told = shards.flatMap(({ shard, groups }) =>
    groups.filter(({ group }) => group === wanted).map((found) => ({ ...found, shard })),
  );
  if (told.length > 0) return told;
  const message = `no shard has a group ${JSON.stringify(wanted)}: name one that there is, or none for the slowest`;
  throw new EhdbError("NOT_FOUND", message, { group: wanted });
}

const nothing: Figures = { lag: 0, committed: 0, inFlight: 0 };

const slowest = (groups: readonly GroupInfo[]): GroupInfo | undefined => groups.toSorted((a, b) => b.lag - a.lag)[0];

function ofShards(told: readonly ShardFigures[]): string[] {
  return shardFamilies.flatMap(([name, help, figure]) => {
    const samples = told.map((one): Sample => [{ shard: one.shard }, one[figure]]);
    return family(name, help, samples);
  });
}

function ofTotals(told: readonly ShardFigures[]): string[] {
  return totalFamilies.flatMap(([name, help, figure]) => {
    const total = told.reduce((sum, one) => sum + one[figure], 0);
    return family(name, help, [[{}, total]]);
  });
}

function ofGroups(shards: readonly ShardGroups[]): string[] {
  return groupFamilies.flatMap(([name, help, figure]) => {
    const samples = shards.flatMap(({ shard, groups }) =>
      groups.map((one): Sample => [{ shard, group: one.group }, figure(one)]),
    );
    return family(name, help, samples);
  });
}

function family(name: string, help: string, samples: readonly Sample[]): string[] {
  return [
    `# HELP ${prefix}${name} ${help}`,
    `# TYPE ${prefix}${name} gauge`,
    ...samples.map(([labels, value]) => `${prefix}${name}${labelled(labels)} ${value}`),
  ];
}

function labelled(labels: Sample[0]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
