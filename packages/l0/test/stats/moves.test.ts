import type { ErrorCode } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { stage } from "../drive.ts";
import { unmoved, wrongMoves } from "./cases.ts";
import type { Case, Name } from "./cases.ts";
import { errors, withoutCase } from "./errors.ts";
import { importing } from "./importing.ts";
import { reading } from "./reading.ts";
import { upkeep } from "./upkeep.ts";
import { writing } from "./writing.ts";

const cases: readonly Case[] = [...writing, ...upkeep, ...reading, ...importing, ...errors];

/** Replication will move these: until then they stay 0. */
const notYet: readonly Name[] = [
  "uploads",
  "upload_bytes",
  "replica_writes",
  "read_fallbacks",
  "parts_local_only",
  "parts_under_replicated",
];

describe("what moves the figures", () => {
  test.each(cases)("$what", async (each) => {
    const { engine, host } = await stage(each.options);
    expect(wrongMoves(each, await each.run(engine, host))).toEqual([]);
  });

  test("each of them has a case that moves it", async () => {
    const { engine } = await stage();
    const { errors: byCode, ...stats } = engine.stats();
    expect(unmoved(Object.keys(stats), cases)).toEqual(notYet.toSorted());
    for (const name of notYet) expect(stats[name], name).toBe(0);
    const moved = new Set(cases.flatMap((each) => Object.keys(each.errors ?? {})));
    const codes = Object.keys(byCode) as ErrorCode[];
    expect(codes.filter((code) => !moved.has(code)).toSorted()).toEqual(Object.keys(withoutCase).toSorted());
  });

  test("a figure without a case, one that doesn't move, and one that moves when nothing is wrong are found", async () => {
    expect(unmoved(["commits", "nobody_moves_this"], cases)).toEqual(["nobody_moves_this"]);
    const { engine } = await stage();
    const stats = engine.stats();
    const still: Case = { what: "", run: () => Promise.reject(new Error()), moves: { commits: 1, merges: "more" } };
    expect(wrongMoves(still, [stats, stats])).toHaveLength(2);
    const wrong = { ...stats, seal_failed: 1, errors: { ...stats.errors, CORRUPT: 1 } };
    expect(wrongMoves({ ...still, moves: {} }, [stats, wrong])).toHaveLength(2);
  });
});
