import type { DurableEngine } from "@ehdb/l0";
import { expect, test } from "vitest";
import { countingDoor } from "../src/counting-door.ts";
import { ErrorCounts } from "../src/error-counts.ts";
import { stage } from "./drive.ts";

/** They work on a closed engine as well. */
const noError = new Set(["stats", "close"]);

test("every call of an engine counts the error that it ends with, once", async () => {
  const { engine } = await stage();
  await engine.close();
  const calls = Object.entries(engine).filter(([name, value]) => typeof value === "function" && !noError.has(name));
  expect(calls.length).toBeGreaterThan(20);
  let expected = 0;
  for (const [name, call] of calls as [string, (...args: readonly unknown[]) => unknown][]) {
    const [argument, second] =
      name === "commit" ? [() => undefined] : name === "raiseFloor" ? ["events", 1] : ["events", {}];
    await expect(async () => await call(argument, second), name).rejects.toMatchObject({ code: "CLOSED" });
    expect(engine.stats().errors.CLOSED, name).toBe(++expected);
  }
});

test("an engine's door has all that the engine has, as it is now", async () => {
  const { engine } = await stage();
  const names = [
    "dir",
    "epoch",
    "heads",
    "recovery",
    "revision",
    "state",
    "storeId",
  ] as const satisfies (keyof DurableEngine)[];
  for (const name of names) expect(engine[name], name).toBeDefined();
  await engine.commit((batch) => batch.put("state", "a", Buffer.from("one")));
  expect([engine.revision, engine.heads.accepted]).toEqual([1, 1]);
  await engine[Symbol.asyncDispose]();
  expect(engine.state).toBe("closed");
});

test("what an object calls of itself isn't counted a second time", async () => {
  class Inner {
    outer(): Promise<void> {
      return this.inner();
    }
    async inner(): Promise<void> {
      throw new Error("no");
    }
  }
  const told: unknown[] = [];
  const door = countingDoor(new Inner(), (error) => told.push(error));
  await expect(door.outer()).rejects.toThrow("no");
  expect(told).toHaveLength(1);
});

test("an error without a code is one that nobody expected", () => {
  const counts = new ErrorCounts();
  counts.add(new TypeError("of undefined"));
  expect(counts.byCode.UNEXPECTED).toBe(1);
});

test("what a caller's own function throws is no error of the engine", async () => {
  const { engine } = await stage();
  await engine.commit((batch) => batch.append("events", "a", Buffer.from("one")));
  const own = new Error("the caller's own");
  const throwing = (): never => {
    throw own;
  };
  const source = {
    [Symbol.iterator]: () => ({ next: throwing }),
  };
  await expect(engine.commit(throwing)).rejects.toBe(own);
  await expect(engine.import("more", source)).rejects.toBe(own);
  await expect(engine.backup("/backup", { onProgress: throwing })).rejects.toBe(own);
  await expect(engine.verify({ onProgress: throwing })).rejects.toBe(own);
  await expect(engine.scrub({ onProgress: throwing })).rejects.toBe(own);
  expect(engine.stats().errors).toEqual(new ErrorCounts().byCode);
  await engine.close();
});
