import type { EventLog } from "@ehdb/contracts";
import { isRefusal, shownAnswer } from "../answer.ts";
import { AppendPlan } from "../append-plan.ts";
import type { EventSource } from "../event-source.ts";
import type { KilledStore } from "../kills.ts";
import type { VerbContext } from "../verb.ts";
import { killedLogOptions } from "../victims/eventlog.ts";
import { EventCalls } from "./event-calls.ts";
import { expectedOf } from "./expected-log.ts";
import { compareStreams, compareWhole } from "./log-comparison.ts";

/** An event log whose process is killed. */
export function killedLog(context: VerbContext, source: EventSource, reference: EventLog): KilledStore {
  const theirs = new EventCalls(reference, source);
  const quiet = { ...context, progress: () => undefined };
  return {
    kind: "eventlog",
    source,
    plan: new AppendPlan(source, Infinity, "cut by stream"),
    open: async (dir) => {
      const log = await context.openEventLog({ dir, host: context.host, ...killedLogOptions });
      const ours = new EventCalls(log, source);
      const places = new Map<string, { sequence: number; version: number }>();
      return {
        ids: async () => {
          const ids: string[] = [];
          for await (const events of log.scan({ signal: context.signal }).batches()) {
            for (const { id } of events) ids.push(id);
          }
          return ids;
        },
        take: async (append) => void (await theirs.append(append, "any")),
        compare: async (problems) => {
          const expected = await expectedOf(reference, source);
          for (const compare of [compareWhole, compareStreams]) {
            const { text } = (await compare(quiet, log, expected, source)).problems;
            if (text !== undefined) problems.add(text);
          }
          for (const { id, position, version } of expected.events) places.set(id, { sequence: position, version });
        },
        places: () => places,
        repeat: async (append) => {
          const [said, wanted] = [await ours.append(append, "any"), await theirs.append(append, "any")];
          const isNew = !isRefusal(wanted) && !wanted.isDuplicate;
          return { said: shownAnswer(said), wanted: shownAnswer(wanted), isNew };
        },
        parts: () => log.engine.stats().manifest_parts,
        close: () => log.close(),
      };
    },
  };
}
