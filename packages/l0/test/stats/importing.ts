import type { ImportedRecord } from "@ehdb/contracts";
import type { DurableEngine } from "@ehdb/l0";
import type { Case } from "./cases.ts";
import { append, around, bytes, failing } from "./cases.ts";

function records(...sorts: readonly number[]): ImportedRecord[] {
  return sorts.map((sort) => ({ sort, key: `${sort}`, version: 1, time: 0, payload: bytes("x") }));
}

function bring(engine: DurableEngine, ...sorts: readonly number[]): Promise<unknown> {
  return engine.import("events", [records(...sorts)]);
}

export const importing: readonly Case[] = [
  {
    what: "an import whose disorder is counted",
    run: (engine) => around(engine, () => engine.import("events", [records(3, 1, 7, 5, 2)], { disorder: "count" })),
    moves: { out_of_order_appends: 3, appends: 5, commits: 2, manifest_parts: 1, seals: 1 },
  },
  {
    what: "an import in order",
    run: (engine) => around(engine, () => engine.import("events", [records(1, 2, 4)], { disorder: "count" })),
    moves: { out_of_order_appends: 0, appends: 3 },
  },
  {
    what: "commits, which are always in order",
    run: (engine) => around(engine, () => Promise.all(["c", "a", "b"].map((key) => append(engine, key)))),
    moves: { out_of_order_appends: 0, appends: 3 },
  },
  {
    what: "imports that are refused",
    run: (engine) =>
      around(engine, async () => {
        await failing(() => bring(engine, 2, 1));
        await failing(() => bring(engine, 2, 2));
        await failing(() => engine.import("none", []));
        await bring(engine, 1);
        await failing(() => bring(engine, 2));
      }),
    moves: { out_of_order_appends: 0, appends: 1 },
    errors: { OUT_OF_ORDER: 1, INVALID_ARGUMENT: 2, ALREADY_EXISTS: 1 },
  },
  {
    what: "a commit to what is being imported",
    run: (engine) =>
      around(engine, async () => {
        await engine.import(
          "events",
          (async function* () {
            yield records(1);
            await failing(() => append(engine, "a"));
          })(),
        );
      }),
    moves: { appends: 1 },
    errors: { LOCKED: 1 },
  },
];
