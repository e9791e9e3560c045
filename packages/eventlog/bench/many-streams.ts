import { assertCount, goal, inFlightOf, shape } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { openEventLog } from "@ehdb/eventlog";
import { benchEvents, withLog } from "./stage.ts";
import type { BenchEvent } from "./stage.ts";

const streams: BySize<number> = { tiny: 10_000, small: 100_000, full: 1_000_000 };
const eventsEach = 3;

/** Streams of a few events each, appended with the version that is expected: what a cold stream costs. */
export const manyStreams: Bench = {
  name: "eventlog.streams",
  results: ["eventlog.streams.append", "eventlog.streams.cold", "eventlog.streams.open", "eventlog.streams.memory"],
  async run(context: BenchContext): Promise<Result[]> {
    const many = streams[context.size];
    const events = benchEvents(4096);
    return await withLog(context, {}, async (writer, dir) => {
      const [before, start] = [memory(), performance.now()];
      // A round over all streams for each version: every append meets a stream that others have pushed out of memory.
      for (let version = 0; version < eventsEach; version++) {
        await inFlightOf(1024, many, (index) =>
          writer.append(nameOf(index), eventOf(events, index), { expect: version }),
        );
      }
      assertCount("the log's position", writer.position, many * eventsEach);
      const seconds = (performance.now() - start) / 1000;
      const used = memory() - before;
      const coldStart = performance.now();
      const cold = Math.min(many, 20_000);
      const places = Array.from({ length: cold }, (_, i) => (i * 7919) % many);
      await inFlightOf(1024, cold, async (index) => {
        const stream = nameOf(places[index] as number);
        await writer.append(stream, eventOf(events, index), { expect: eventsEach }).catch((error: unknown) => {
          // Taken twice by chance.
          if ((error as { code?: string }).code !== "CONFLICT") throw error;
        });
      });
      const coldSeconds = (performance.now() - coldStart) / 1000;
      await writer.close();
      const openStart = performance.now();
      const log = await openEventLog({ dir });
      const openMillis = performance.now() - openStart;
      const { version } = await log.streamInfo(nameOf(many - 1));
      if (version < eventsEach) throw new Error(`the last stream has version ${version}`);
      await log.close();
      const total = many * eventsEach;
      const note = `${many} streams of ${eventsEach} events, ${total} appends that each expect a version, 1 024 in flight`;
      return [
        { name: "eventlog.streams.append", value: total / seconds, unit: "appends/s (more is better)", n: total, note },
        {
          name: "eventlog.streams.cold",
          value: cold / coldSeconds,
          unit: "appends/s to streams taken at random (more is better)",
          n: cold,
          verdicts: [shape(`cold appends go on: ${Math.round(cold / coldSeconds)}/s`, cold / coldSeconds > 100)],
        },
        { name: "eventlog.streams.open", value: openMillis, unit: "ms to open (less is better)", n: 1 },
        {
          name: "eventlog.streams.memory",
          value: used / many,
          unit: "bytes of memory more a stream (less is better)",
          n: many,
          note: `${(used / 2 ** 20).toFixed(0)} MiB more, heap and external, block cache and generations included`,
          verdicts: [goal(`${(used / 2 ** 20).toFixed(0)} MiB <= 256 MiB`, used <= 256 * 2 ** 20)],
        },
      ];
    });
  },
};

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function nameOf(index: number): string {
  return `customer-${String(index).padStart(8, "0")}`;
}

function eventOf(events: readonly BenchEvent[], index: number): BenchEvent["event"] {
  return (events[index % events.length] as BenchEvent).event;
}
