import { alternate, assertCount, goal, median, medianRatio, shape, variation, withDirectory } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { groupCommit } from "@ehdb/harness/floors";
import { peerBatches, peers } from "@ehdb/harness/peers";
import { join } from "node:path";
import { benchEvents, unsealed, withLog } from "./stage.ts";

const batch = 1000;
const batches: BySize<number> = { tiny: 20, small: 100, full: 250 };

/** A caller that brings 1 000 events of one stream at a time and waits for them. */
export const appendBatch: Bench = {
  name: "eventlog.append.batch",
  results: ["eventlog.append.batch"],
  async run(context: BenchContext): Promise<Result[]> {
    const events = benchEvents(4000);
    const inputs = Array.from({ length: events.length / batch }, (_, i) =>
      events.slice(i * batch, (i + 1) * batch).map(({ event }) => event),
    );
    const count = batches[context.size] * batch;
    // What one write of a batch costs at the least: the same JSON, one write and one sync.
    const joined = inputs.map((input) => Buffer.from(input.map((event) => JSON.stringify(event)).join("\n")));
    const contenders = [
      {
        name: "eventlog",
        round: () =>
          withLog(context, unsealed, async (log) => {
            const start = performance.now();
            for (let i = 0; i < batches[context.size]; i++)
              await log.append(`stream-${i}`, inputs[i % inputs.length] ?? [], { expect: "none" });
            assertCount("the log's position", log.position, count);
            return (count * 1000) / (performance.now() - start);
          }),
      },
      {
        name: "floor",
        round: () =>
          withDirectory(context.directory, async (directory) => {
            const encode = (index: number): Uint8Array =>
              Buffer.from((inputs[index % inputs.length] ?? []).map((event) => JSON.stringify(event)).join("\n"));
            const path = join(directory, "floor");
            return batch * (await groupCommit(path, joined, batches[context.size], 1, encode)).perSecond;
          }),
      },
      ...peers.map((kind) => ({
        name: kind.name,
        round: () => {
          const records = events.map(({ json }) => json);
          return peerBatches(kind, { directory: context.directory, records, count }, batch);
        },
      })),
    ];
    const figures = await alternate(contenders, context.rounds);
    const rates = (name: string): number[] => figures.get(name) ?? [];
    const ratio = medianRatio(rates("eventlog"), rates("floor"));
    const peerRatio = Object.fromEntries(peers.map(({ name }) => [name, medianRatio(rates("eventlog"), rates(name))]));
    const lmdb = peerRatio["lmdb"] ?? 0;
    return [
      {
        name: "eventlog.append.batch",
        value: median(rates("eventlog")),
        unit: "events/s (more is better)",
        n: count * context.rounds,
        floor: median(rates("floor")),
        floorRatio: ratio,
        peers: Object.fromEntries(peers.map(({ name }) => [name, median(rates(name))])),
        peerRatio,
        variation: variation(rates("eventlog")),
        note: "1 000 events an append, one at a time; the floor counts JSON.stringify, the peers get bytes that are ready",
        verdicts: [
          goal(`${lmdb.toFixed(2)} >= 1 x lmdb`, lmdb >= 1),
          shape(`${lmdb.toFixed(2)} >= 0.3 x lmdb`, lmdb >= 0.3),
        ],
      },
    ];
  },
};
