import { isRefusal, shownAnswer } from "../answer.ts";
import { AppendPlan } from "../append-plan.ts";
import type { EventSource } from "../event-source.ts";
import type { KilledStore } from "../kills.ts";
import type { VerbContext } from "../verb.ts";
import { killedEngineOptions } from "../victims/l0.ts";
import { CommitCalls } from "./commit-calls.ts";
import { compareEngines } from "./engine-comparison.ts";
import { errorsOf } from "./error-counters.ts";
import { referenceOf } from "./reference-commits.ts";

/** An engine whose process is killed. */
export function killedEngine(context: VerbContext, source: EventSource): KilledStore {
  const reference = referenceOf();
  const theirs = new CommitCalls(reference, source);
  return {
    kind: "l0",
    source,
    plan: new AppendPlan(source, Infinity, "whole"),
    open: async (dir) => {
      const engine = await context.openEngine({ dir, host: context.host, ...killedEngineOptions });
      const ours = new CommitCalls(engine, source);
      const places = new Map<string, { sequence: number; version: number }>();
      return {
        ids: async () => {
          const ids: string[] = [];
          for await (const records of engine.log("events").scan({ signal: context.signal })) {
            for (const { id = "" } of records) ids.push(id);
          }
          return ids;
        },
        take: async (append) => void (await theirs.commit(append)),
        compare: async (problems) => {
          const compared = await compareEngines(engine, reference, source);
          for (const text of [compared.problems.text, errorsOf(engine)]) if (text !== undefined) problems.add(text);
          for await (const records of reference.log("events").scan()) {
            for (const { id = "", revision } of records) places.set(id, { sequence: revision, version: 0 });
          }
        },
        places: () => places,
        repeat: async (append) => {
          const [said, wanted] = [await ours.commit(append), await theirs.commit(append)];
          const isNew = !isRefusal(wanted) && !wanted.isDuplicate;
          return { said: shownAnswer(said), wanted: shownAnswer(wanted), isNew };
        },
        parts: () => engine.stats().manifest_parts,
        close: () => engine.close(),
      };
    },
  };
}
