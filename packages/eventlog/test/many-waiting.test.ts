import { getEventListeners } from "node:events";
import { openEventLogReader } from "@ehdb/eventlog";
import { expect, test } from "vitest";
import { stage } from "./drive.ts";
import { iteratorOf, numbered, range, refusalOf } from "./events.ts";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

test("however many calls share a signal, it has one listener, and none when they are done", async () => {
  const { host, log } = await stage();
  const reader = await openEventLogReader({ dir: "/log", host });
  const stop = new AbortController();
  const { signal } = stop;
  const follows = range(1, 20).flatMap(() =>
    [log.subscribe({ signal }), log.consumer("c").tail({ signal }), reader.subscribe({ signal })].map((stream) =>
      refusalOf(iteratorOf(stream).next()),
    ),
  );
  await host.settle();
  expect(listeners(signal)).toBe(1);
  stop.abort();
  expect(new Set(await Promise.all(follows))).toEqual(new Set(["ABORTED"]));
  expect(listeners(signal)).toBe(0);
  const held = host.hold(["dataSync"]);
  const others = new AbortController();
  const calls = range(1, 20).flatMap((n) => [
    log.deleteStream(`s${n}`, { signal: others.signal }),
    log.append(`s${n}`, numbered(1), { expect: "none", signal: others.signal }),
  ]);
  expect(listeners(others.signal)).toBe(1);
  held.release();
  await Promise.all(calls);
  expect(listeners(others.signal)).toBe(0);
  await reader.close();
  await log.close();
});

test("a thousand subscriptions hear of an event, and not all in one turn of the loop", async () => {
  const { host, log } = await stage();
  let turn = 0;
  let isDone = false;
  const turns = async (): Promise<void> => {
    for (; !isDone; turn++) await host.clock.yield();
  };
  const heard: { position: number; turn: number }[] = [];
  const nexts = range(1, 1000).map(async () => {
    const { value } = await iteratorOf(log.subscribe()).next();
    heard.push({ position: value?.position ?? 0, turn });
  });
  await host.settle();
  const counting = turns();
  await log.append("s", numbered(1));
  await Promise.all(nexts);
  isDone = true;
  await counting;
  expect(new Set(heard.map(({ position }) => position))).toEqual(new Set([1]));
  const atOnce = new Map<number, number>();
  for (const one of heard) atOnce.set(one.turn, (atOnce.get(one.turn) ?? 0) + 1);
  expect(Math.max(...atOnce.values())).toBeLessThanOrEqual(128);
  await log.close();
});

test("a close ends all who follow, however many", async () => {
  const { host, log } = await stage();
  const refusals = range(1, 500).map(() => refusalOf(iteratorOf(log.subscribe()).next()));
  await host.settle();
  await log.close();
  expect(new Set(await Promise.all(refusals))).toEqual(new Set(["CLOSED"]));
});
