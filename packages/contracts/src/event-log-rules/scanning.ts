import type { ScanEventsOptions } from "../event-log.ts";
import { afterReopening, claim, holds, refused, same } from "./claim.ts";
import { all, fill, numbered, range, scanned } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

export const scanningRules: readonly EventLogRule[] = [
  claim("a scan gives all events in order of position, or backwards", async (log) => {
    await fill(log, "a", "b", "a", "c");
    same("by default", await scanned(log), [1, 2, 3, 4]);
    same("forwards", await scanned(log, { direction: "forwards" }), [1, 2, 3, 4]);
    same("backwards", await scanned(log, { direction: "backwards" }), [4, 3, 2, 1]);
  }),

  claim("a scan goes on after a position, or a checkpoint", async (log) => {
    await log.append("s", numbered(5));
    for (const position of range(0, 5)) {
      same(`after ${position}`, await scanned(log, { after: position }), range(position + 1, 5));
      const after = { position, epoch: log.epoch };
      same(`after checkpoint ${position}`, await scanned(log, { after }), range(position + 1, 5));
      same(
        `after ${position}, one`,
        await scanned(log, { after: position, limit: 1 }),
        range(position + 1, 5).slice(0, 1),
      );
    }
  }),

  claim("backwards, a scan begins before a position", async (log) => {
    await log.append("s", numbered(5));
    for (const before of range(1, 9)) {
      const wanted = range(1, Math.min(before - 1, 5)).reverse();
      same(`before ${before}`, await scanned(log, { direction: "backwards", before }), wanted);
      same(
        `two before ${before}`,
        await scanned(log, { direction: "backwards", before, limit: 2 }),
        wanted.slice(0, 2),
      );
    }
  }),

  claim("a place beyond the end is refused", async (log) => {
    same("after 0 of an empty log", await scanned(log, { after: 0 }), []);
    for (const position of [1, 7, Number.MAX_SAFE_INTEGER]) {
      await refused("OUT_OF_RANGE", `after ${position}`, () => scanned(log, { after: position }));
    }
    await fill(log, "s", "s");
    await refused("OUT_OF_RANGE", "after 3 of 2", () => scanned(log, { after: 3 }));
    const { data } = await refused("OUT_OF_RANGE", "a checkpoint", () =>
      scanned(log, { after: { position: 3, epoch: log.epoch } }),
    );
    same("what it says", [data["position"], data["last"]], [3, 2]);
  }),

  claim("a checkpoint of an epoch that this log never had is refused", async (log) => {
    await fill(log, "s", "s");
    for (const position of [1, 2, 3]) {
      const after = { position, epoch: log.epoch + 1 };
      await refused("TRUNCATED", `position ${position}`, () => scanned(log, { after }));
    }
  }),

  claim("a scan gives only what is wanted: types, a stream, streams that begin so, or all of it", async (log) => {
    const placed = { type: "placed" };
    const paid = { type: "paid" };
    await log.append("order-1", [placed, paid]); // 1, 2
    await log.append("order-2", placed); // 3
    await log.append("order-10", [placed, { type: "sent" }]); // 4, 5
    await log.append("person-1", [paid, placed]); // 6, 7
    await log.append("Order-1", placed); // 8
    const cases: readonly [ScanEventsOptions, readonly number[]][] = [
      [{ types: ["placed"] }, [1, 3, 4, 7, 8]],
      [{ types: ["paid", "sent"] }, [2, 5, 6]],
      [{ types: ["Placed"] }, []],
      [{ stream: "order-1" }, [1, 2]],
      [{ stream: "order-" }, []],
      [{ streamPrefix: "order-1" }, [1, 2, 4, 5]],
      [{ streamPrefix: "o" }, [1, 2, 3, 4, 5]],
      [{ streamPrefix: "" }, range(1, 8)],
      [{ types: ["placed"], streamPrefix: "order-" }, [1, 3, 4]],
      [{ types: ["paid"], stream: "person-1" }, [6]],
      [{ stream: "order-1", streamPrefix: "person" }, []],
    ];
    for (const [options, wanted] of cases) {
      const what = JSON.stringify(options);
      same(what, await scanned(log, options), wanted);
      same(`${what} backwards`, await scanned(log, { ...options, direction: "backwards" }), wanted.toReversed());
      same(`two of ${what}`, await scanned(log, { ...options, limit: 2 }), wanted.slice(0, 2));
      same(
        `${what} after 3`,
        await scanned(log, { ...options, after: 3 }),
        wanted.filter((n) => n > 3),
      );
    }
  }),

  claim("a long log comes in several batches, none of them empty, whatever is left out", async (log) => {
    for (let i = 0; i < 30; i++) await log.append("s", numbered(300, i * 300, i % 10 === 9 ? "tenth" : "counted"));
    for (const options of [{}, { types: ["tenth"] }, { direction: "backwards" as const }]) {
      const seen: number[] = [];
      let largest = 0;
      for await (const batch of log.scan(options).batches()) {
        holds(batch.length > 0, "a batch is empty");
        largest = Math.max(largest, batch.length);
        for (const event of batch) seen.push(event.position);
      }
      same("positions", seen, await scanned(log, options));
      if (seen.length === 9_000) holds(largest <= 4_500, `a batch holds ${largest} of ${seen.length} events`);
    }
  }),

  claim("options of scans that make no sense are refused", async (log) => {
    await fill(log, "s");
    const wrong: Readonly<Record<string, unknown>>[] = [
      { after: -1 },
      { after: 0.5 },
      { after: "end" },
      { after: { position: 1 } },
      { after: 0, direction: "backwards" },
      { before: 1 },
      { before: 0, direction: "backwards" },
      { types: [] },
      { types: "placed" },
      { types: [1] },
      { stream: "" },
      { streamPrefix: 1 },
      { limit: -1 },
    ];
    for (const options of wrong) {
      await refused("INVALID_OPTION", JSON.stringify(options), () => all(log.scan(options)));
    }
  }),

  claim(
    "a checkpoint holds after the log was opened again, and one beyond its epoch's end is truncated",
    async (log, subject) => {
      await fill(log, "s", "s");
      const { epoch } = log;
      await afterReopening(subject, async (again) => {
        await fill(again, "s");
        same("after the checkpoint", await scanned(again, { after: { position: 2, epoch } }), [3]);
        same("after one of now", await scanned(again, { after: { position: 3, epoch: again.epoch } }), []);
        for (const position of [3, 4]) {
          const call = (): Promise<unknown> => scanned(again, { after: { position, epoch } });
          await refused("TRUNCATED", `position ${position} of the epoch before`, call);
        }
      });
    },
    "persistence",
  ),
];
