import {
  alternate,
  assertCount,
  goal,
  inFlightOf,
  median,
  medianRatio,
  shape,
  variation,
  withDirectory,
} from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { KIB, MIB } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import { groupCommitTwice } from "@ehdb/harness/floors";
import { join } from "node:path";
import { assertHolds, benchEvents } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

interface Load {
  readonly count: number;
  readonly generationBytes: number;
}

const loads: BySize<Load> = {
  tiny: { count: 80_000, generationBytes: 512 * KIB },
  small: { count: 240_000, generationBytes: 8 * MIB },
  full: { count: 800_000, generationBytes: 8 * MIB },
};
const inFlight = 64;
/** The least that counts as going on and on. */
const leastSeals = 8;

/** Appends over many generations, seals and merges beside them: what a log takes in for as long as it's asked to. */
export const sustained: Bench = {
  name: "eventlog.append.sustained",
  results: ["eventlog.append.sustained"],
  async run(context: BenchContext): Promise<Result[]> {
    const { count, generationBytes } = loads[context.size];
    const events = benchEvents(4096);
    const records = events.map(({ json }) => json);
    const encoded = (index: number): Uint8Array => {
      const { stream, event } = events[index % events.length] as BenchEvent;
      return Buffer.from(JSON.stringify({ stream, ...event }));
    };
    const background: string[] = [];
    const figures = await alternate(
      [
        {
          name: "eventlog",
          round: async () => {
            const { perSecond, note } = await appends(context, events, loads[context.size]);
            background.push(note);
            return perSecond;
          },
        },
        {
          name: "floor",
          round: () =>
            withDirectory(context.directory, async (directory) => {
              const path = join(directory, "floor");
              return (await groupCommitTwice(path, records, count, inFlight, generationBytes, encoded)).perSecond;
            }),
        },
      ],
      context.rounds,
    );
    const [rates, floor] = [figures.get("eventlog") ?? [], figures.get("floor") ?? []];
    const ratio = medianRatio(rates, floor);
    return [
      {
        name: "eventlog.append.sustained",
        value: median(rates),
        unit: "appends/s (more is better)",
        n: count * context.rounds,
        floor: median(floor),
        floorRatio: ratio,
        variation: variation(rates),
        note: `${inFlight} in flight; ${background.at(-1)}; the floor writes every byte twice, in pieces of as much`,
        verdicts: [
          goal(`${ratio.toFixed(2)} >= 0.60 x the floor`, ratio >= 0.6),
          shape(`${ratio.toFixed(2)} >= 0.15 x the floor`, ratio >= 0.15),
        ],
      },
    ];
  },
};

async function appends(
  { directory }: BenchContext,
  events: readonly BenchEvent[],
  { count, generationBytes }: Load,
): Promise<{ readonly perSecond: number; readonly note: string }> {
  return await withDirectory(directory, async (parent) => {
    const log = await openEventLog({ dir: `${parent}/log`, sealMaxBytes: generationBytes });
    try {
      const start = performance.now();
      await inFlightOf(inFlight, count, (index) => {
        const { stream, event } = events[index % events.length] as BenchEvent;
        return log.append(stream, event);
      });
      const perSecond = (count * 1000) / (performance.now() - start);
      assertCount("the log's position", log.position, count);
      const { seals, merges, sealed_bytes, merged_bytes } = log.engine.stats();
      if (seals < leastSeals || merges === 0)
        throw new Error(`${seals} seals and ${merges} merges ran: at least ${leastSeals} and 1 are wanted`);
      await assertHolds(log, events, count);
      const mib = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MiB`;
      return {
        perSecond,
        note: `${seals} seals of ${mib(sealed_bytes)} and ${merges} merges of ${mib(merged_bytes)} meanwhile`,
      };
    } finally {
      await log.close();
    }
  });
}
