import { expect, test } from "vitest";
import { stage } from "./drive.ts";

test("a thousand callers are told of one sync in order, and not all in one turn of the loop", async () => {
  const { host, engine } = await stage();
  let turn = 0;
  let isDone = false;
  const turns = async (): Promise<void> => {
    for (; !isDone; turn++) await host.clock.yield();
  };
  const counting = turns();
  const told: { revision: number; turn: number }[] = [];
  await Promise.all(
    Array.from({ length: 1000 }, async (_, n) => {
      const { revision } = await engine.commit((batch) => batch.append("events", `k${n % 7}`, Buffer.from(`${n}`)));
      told.push({ revision, turn });
    }),
  );
  isDone = true;
  await counting;
  expect(told.map(({ revision }) => revision)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1));
  const atOnce = new Map<number, number>();
  for (const one of told) atOnce.set(one.turn, (atOnce.get(one.turn) ?? 0) + 1);
  expect(Math.max(...atOnce.values())).toBeLessThanOrEqual(128);
  await engine.close();
  expect(() => engine.setDurability("async")).toThrow(expect.objectContaining({ code: "CLOSED" }));
});

test("a thousand who wait for news hear of a commit, and not all in one turn of the loop", async () => {
  const { host, engine } = await stage();
  let turn = 0;
  let isDone = false;
  const turns = async (): Promise<void> => {
    for (; !isDone; turn++) await host.clock.yield();
  };
  const told: number[] = [];
  const waits = Array.from({ length: 1000 }, () => engine.news(0).then(() => told.push(turn)));
  const counting = turns();
  await engine.commit((batch) => batch.append("events", "a", Buffer.from("x")));
  await Promise.all(waits);
  isDone = true;
  await counting;
  const atOnce = new Map<number, number>();
  for (const one of told) atOnce.set(one, (atOnce.get(one) ?? 0) + 1);
  expect(Math.max(...atOnce.values())).toBeLessThanOrEqual(128);
  await engine.close();
});
