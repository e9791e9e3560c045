import { expect, test } from "vitest";
import { stage } from "./drive.ts";
import { eventsOf, numbered } from "./events.ts";

test("ids that are made differ, however many are made", async () => {
  const { log } = await stage();
  await log.append("s", numbered(1500));
  await Promise.all(Array.from({ length: 500 }, (_, n) => log.append(`t${n % 3}`, numbered(3))));
  const ids = new Set((await eventsOf(log.scan())).map(({ id }) => id));
  expect(ids.size).toBe(3000);
  await log.close();
});

test("a checkpoint and a list of types are what they were at the call", async () => {
  const { log } = await stage();
  await log.append("s", numbered(3));
  const after = { position: 2, epoch: log.epoch };
  const types = ["counted"];
  const events = eventsOf(log.scan({ after, types }));
  Object.assign(after, { position: 99 });
  types[0] = "another";
  expect((await events).map(({ position }) => position)).toEqual([3]);
  const holes = Object.assign([], { length: 1 });
  expect(() => log.scan({ types: holes })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  await log.close();
});
