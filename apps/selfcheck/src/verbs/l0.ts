import { join } from "node:path";
import { engineRuleDatasets, engineRuleDedupeWindow, engineRules, KIB, MIB } from "@ehdb/contracts";
import type { Engine } from "@ehdb/contracts";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { AppendPlan } from "../append-plan.ts";
import type { Checks } from "../checks.ts";
import { comparedEvents } from "../compared-events.ts";
import { keepRules } from "../conformance.ts";
import type { EventSource } from "../event-source.ts";
import { rounded } from "../figures.ts";
import { tellFinding } from "../finding.ts";
import { killStore } from "../kills.ts";
import { runCommitLoad } from "../l0/commit-load.ts";
import { compareEngines } from "../l0/engine-comparison.ts";
import { errorCounters, errorsOf } from "../l0/error-counters.ts";
import { killedEngine } from "../l0/killed-engine.ts";
import { referenceOf, replayCommits } from "../l0/reference-commits.ts";
import { datasets } from "../l0/staged-commit.ts";
import { tellFigures } from "../load-figures.ts";
import type { Verb, VerbContext } from "../verb.ts";

/** Of the events: a commit writes an event several times, and the reference looks through all there is at each. */
const SHARE = 0.5;

interface Bench {
  readonly context: VerbContext;
  readonly checks: Checks;
  readonly source: EventSource;
  readonly events: number;
  readonly reference: Engine;
}

export const l0Verb: Verb = {
  name: "l0",
  summary: "commits to logs and maps of the engine, seals, kills, and compares all with the reference",

  async run(context, checks) {
    const { source, events } = await comparedEvents(context, checks, SHARE);
    const bench = { context, checks, source, events, reference: referenceOf() };
    // As a tier gets it: the figures are those of the defaults.
    const options = { dir: join(context.directory, "engine"), host: context.host, datasets };
    await withEngine(bench, options, async (engine) => {
      await fill(bench, engine);
      await compare(bench, "at once", engine);
    });
    const started = context.host.clock.monotonic();
    await withEngine(bench, options, async (engine) => {
      checks.step({ name: "opened again", value: rounded(context.host.clock.monotonic() - started), unit: "ms" });
      await compare(bench, "opened again", engine);
      await engine.seal();
      const { manifest_parts: parts } = engine.stats();
      checks.step({ name: "sealed", value: parts, unit: "parts", ok: parts > 0 });
      await compare(bench, "sealed", engine);
    });
    await killStore(context, checks, killedEngine(context, source));
    await keepRules(context, checks, engineRules, [], ({ host, directory }) =>
      context.openEngine({
        dir: directory,
        host,
        datasets: engineRuleDatasets,
        dedupeWindow: engineRuleDedupeWindow,
        // Every few commits make parts, so that the rules hold of what is sealed too.
        sealMaxBytes: 64 * KIB,
        sealMaxCommits: 3,
      }),
    );
  },
};

/** Opens, uses and closes an engine that must count no error meanwhile. */
async function withEngine(
  { context, checks }: Bench,
  options: EngineOptions,
  use: (engine: DurableEngine) => Promise<void>,
): Promise<void> {
  const engine = await context.openEngine(options);
  try {
    await use(engine);
    const errors = errorsOf(engine);
    checks.step({ name: "counters of errors are 0", count: errorCounters, ok: errors === undefined, message: errors });
  } finally {
    await engine.close();
  }
}

async function fill({ context, checks, source, events, reference }: Bench, engine: DurableEngine): Promise<void> {
  const { clock } = context.host;
  const latencies: number[] = [];
  let committed = 0;
  const started = clock.monotonic();
  const load = await runCommitLoad({
    engine,
    source,
    clock,
    round: 0,
    plan: new AppendPlan(source, events, "whole"),
    signal: context.signal,
    onCommitted: ({ numbers }, _, took) => {
      if (numbers.length === 1) latencies.push(took);
      committed += numbers.length;
      context.progress(committed, events);
    },
  });
  const millis = clock.monotonic() - started;
  const { seals, sealed_bytes: sealedBytes } = engine.stats();
  const how = `8 writers at once, ${rounded(millis / 1000)} s, ${seals} generations sealed, ${rounded(sealedBytes / MIB)} MiB`;
  tellFigures(checks, { what: "commit", latencies, events: committed, millis, how });
  tellFinding(checks, "committed as expected", { ...load.refused, count: committed });
  tellFinding(checks, "refused with the true revision", load.stale);
  tellFinding(checks, "repeated, and not stored twice", load.repeated);
  const problems = await replayCommits(reference, source, load.calls);
  tellFinding(checks, "each answer as the reference's", { count: load.calls.length, problems });
}

async function compare({ checks, source, reference }: Bench, when: string, engine: Engine): Promise<void> {
  tellFinding(checks, `logs and maps, ${when}`, await compareEngines(engine, reference, source));
}
