import { join } from "node:path";
import type { AppendPlan, PlannedAppend } from "./append-plan.ts";
import type { Checks } from "./checks.ts";
import type { EventSource } from "./event-source.ts";
import { rounded } from "./figures.ts";
import { FoundAppends } from "./found-appends.ts";
import { killRound } from "./kill-round.ts";
import { killsOfStores } from "./options.ts";
import { Problems } from "./problems.ts";
import { SeededRandom } from "./random.ts";
import type { VerbContext } from "./verb.ts";

const FOUND_ONCE = "acknowledged, found once, byte for byte";

/** Where an event stands. */
interface EventPlace {
  /** Its position, or its commit's revision. */
  readonly sequence: number;
  /** 0 where there are no streams. */
  readonly version: number;
}

/** A kind of store whose process is killed, with a reference that gets what is found. */
export interface KilledStore {
  readonly kind: "eventlog" | "l0";
  readonly source: EventSource;
  readonly plan: AppendPlan;
  readonly open: (dir: string) => Promise<OpenedStore>;
}

/** The store after a kill. */
export interface OpenedStore {
  /** The ids of all events, in order. */
  readonly ids: () => Promise<string[]>;
  /** Writes to the reference what was found. */
  readonly take: (append: PlannedAppend) => Promise<void>;
  /** Holds everything against the reference. */
  readonly compare: (problems: Problems) => Promise<void>;
  /** Where the reference has each event, by id, as of the last comparison. */
  readonly places: () => ReadonlyMap<string, EventPlace>;
  /** Writes to both, and resolves with what each said. */
  readonly repeat: (append: PlannedAppend) => Promise<{ said: string; wanted: string; isNew: boolean }>;
  readonly parts: () => number;
  readonly close: () => Promise<unknown>;
}

interface Rounds {
  readonly context: VerbContext;
  readonly killed: KilledStore;
  readonly dir: string;
  readonly random: SeededRandom;
  readonly found: FoundAppends;
  /** What was acknowledged, by the number of an append's first event. */
  readonly promised: Map<number, EventPlace & { readonly count: number }>;
  acknowledged: number;
  repeated: number;
  slowestMillis: number;
  parts: number;
}

/** Kills processes in mid-load, one after the other on one store, and compares all of it with the reference after each. */
export async function killStore(context: VerbContext, checks: Checks, killed: KilledStore): Promise<void> {
  const kills = killsOfStores(context.options);
  if (kills === 0) {
    checks.step({ name: "not killed", message: "by --kills 0" });
    return;
  }
  const rounds: Rounds = {
    context,
    killed,
    dir: join(context.directory, "killed"),
    random: new SeededRandom(context.options.seed, killed.kind),
    found: new FoundAppends(killed.source, killed.plan),
    promised: new Map(),
    acknowledged: 0,
    repeated: 0,
    slowestMillis: 0,
    parts: 0,
  };
  for (let round = 0; round < kills; round++) {
    const problems = await killOnce(rounds, round);
    context.progress(round + 1, kills);
    if (problems.none) continue;
    const message = `after kill ${round + 1}: ${problems.text}`;
    checks.step({ name: FOUND_ONCE, count: rounds.acknowledged, ok: false, message });
    return;
  }
  const { acknowledged, repeated, slowestMillis, parts, found } = rounds;
  const message = `${found.count} events in the store, ${parts} parts; ${repeated} writes were repeated after the kills`;
  checks.step({ name: "killed in mid-load (SIGKILL)", count: kills });
  checks.step({ name: FOUND_ONCE, count: acknowledged, value: 0, unit: "lost", message });
  checks.step({ name: "opened after a kill, slowest", count: kills, value: rounded(slowestMillis), unit: "ms" });
}

async function killOnce(rounds: Rounds, round: number): Promise<Problems> {
  const { context, killed, dir, random, promised, found } = rounds;
  await killRound(context, { store: killed.kind, dir, round, random }, ({ number, count, sequence, version }) => {
    rounds.acknowledged += count;
    promised.set(number, { count, sequence, version });
  });
  const { clock } = context.host;
  const started = clock.monotonic();
  const store = await killed.open(dir);
  try {
    rounds.slowestMillis = Math.max(rounds.slowestMillis, clock.monotonic() - started);
    const problems = new Problems();
    for (const append of found.take(await store.ids(), problems)) await store.take(append);
    await store.compare(problems);
    keepPromises(rounds, store.places(), problems);
    if (problems.none) await repeatWrites(rounds, round, store, problems);
    // What the repeated writes left behind is compared after the next kill; after the last one, now.
    if (problems.none && round === killsOfStores(context.options) - 1) await store.compare(problems);
    rounds.parts = store.parts();
    return problems;
  } finally {
    await store.close();
  }
}

function keepPromises(
  { promised, killed: { source, plan, kind } }: Rounds,
  places: ReadonlyMap<string, EventPlace>,
  problems: Problems,
): void {
  for (const [number, { count, sequence, version }] of promised) {
    for (let i = 0; i < count; i++) {
      const id = source.id(number + i * plan.load.writers);
      const place = places.get(id);
      const wanted = kind === "l0" ? { sequence, version } : { sequence: sequence + i, version: version + i };
      if (place?.sequence === wanted.sequence && place.version === wanted.version) continue;
      const what = place === undefined ? "isn't there" : `is at ${place.sequence}`;
      problems.add(`event ${id}, acknowledged at ${wanted.sequence}, ${what}`);
    }
  }
}

/**
 * As a client does that doesn't know what became of its last write: each writer's last acknowledged one, and the one that it had begun, come
 * again. Both drivers must say the same.
 */
async function repeatWrites(rounds: Rounds, round: number, store: OpenedStore, problems: Problems): Promise<void> {
  for (const append of unsure(rounds, round)) {
    const { said, wanted, isNew } = await store.repeat(append);
    rounds.repeated += 1;
    if (said !== wanted) problems.add(`a write to "${append.stream}", repeated: ${said} instead of ${wanted}`);
    if (isNew) rounds.found.add(append);
  }
}

function unsure({ killed: { plan }, promised }: Rounds, round: number): PlannedAppend[] {
  return Array.from({ length: plan.load.writers }, (_, writer) => {
    const last: PlannedAppend[] = [];
    for (const append of plan.appends(round, writer)) {
      if (!promised.has(append.numbers[0] ?? 0)) return [...last, append];
      last.splice(0, 1, append);
    }
    return last;
  }).flat();
}
