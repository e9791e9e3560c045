import { callInTurns, simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";

test("many are called in order, some at once, and a turn of the loop between", async () => {
  const { clock } = simulatedHost({ seed: 1 });
  const called: number[] = [];
  const calls = Array.from({ length: 250 }, (_, n) => () => called.push(n));
  const all = callInTurns(clock, calls);
  const atOnce = [called.length];
  for (let turn = 0; turn < 3; turn++) {
    await clock.yield();
    atOnce.push(called.length);
  }
  await all;
  expect(called).toEqual(calls.map((_, n) => n));
  expect(atOnce).toEqual([96, 192, 250, 250]);
});
