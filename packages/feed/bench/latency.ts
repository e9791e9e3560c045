import { distribution, goal, shape, withDirectory } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result } from "@ehdb/harness";
import { eventLogDatasets, eventLogOn } from "@ehdb/eventlog";
import { eventLogSource, feedDatasets, feedOn } from "@ehdb/feed";
import { openEngine } from "@ehdb/l0";

const counts: BySize<number> = { tiny: 300, small: 2000, full: 10_000 };

/** From the call of an append to a member's fetch that waited for it, and what of that is the append itself: one at a time, in one process. */
export const latency: Bench = {
  name: "feed.latency",
  results: ["feed.latency"],
  async run(context: BenchContext): Promise<Result[]> {
    const count = counts[context.size];
    return await withDirectory(context.directory, async (parent) => {
      const datasets = [...eventLogDatasets, ...feedDatasets];
      const engine = await openEngine({ dir: `${parent}/engine`, datasets });
      const log = await eventLogOn(engine);
      const feed = await feedOn(engine, { source: eventLogSource(log) });
      try {
        const group = await feed.createGroup("g");
        const appended: number[] = [];
        const fetched: number[] = [];
        const data = { order: 7, note: "x".repeat(300) };
        for (let i = -100; i < count; i++) {
          const waiting = group.fetch({ member: "m", waitSeconds: 60 });
          const start = performance.now();
          const append = log.append("orders", { type: "order.placed", data }).then(() => performance.now() - start);
          const [message] = await waiting;
          const millis = performance.now() - start;
          if (message?.sequence !== i + 101) throw new Error(`fetched ${message?.sequence} instead of ${i + 101}`);
          await message.ack();
          // The first ones only warm.
          if (i < 0) continue;
          fetched.push(millis);
          appended.push(await append);
        }
        const { n, ...spread } = distribution(fetched);
        const bare = distribution(appended);
        const beyond = spread.p50 - bare.p50;
        return [
          {
            name: "feed.latency",
            value: spread.p50,
            unit: "ms from the call of an append to the fetch that waited for it (less is better)",
            n,
            ...spread,
            note: `the append itself: p50 ${bare.p50.toFixed(3)} ms, p99 ${bare.p99.toFixed(3)} ms`,
            verdicts: [
              goal(`${beyond.toFixed(3)} <= 0.2 ms behind the append`, beyond <= 0.2),
              shape(`${beyond.toFixed(3)} <= 2 ms behind the append`, beyond <= 2),
            ],
          },
        ];
      } finally {
        await feed.close();
        await log.close();
        await engine.close();
      }
    });
  },
};
