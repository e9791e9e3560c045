import { expect, test } from "vitest";
import { AppendPlan } from "../src/append-plan.ts";
import type { PlannedAppend } from "../src/append-plan.ts";
import { FoundAppends } from "../src/found-appends.ts";
import { Problems } from "../src/problems.ts";
import { smallEvents } from "./small-events.ts";

const source = smallEvents();
const plan = new AppendPlan(source, Infinity, "cut by stream");

/** What a log holds when each writer has made its first ten appends, in turn. */
function appended(): PlannedAppend[] {
  const writers = Array.from({ length: plan.load.writers }, (_, writer) => plan.appends(0, writer));
  return Array.from({ length: 10 }, () => writers.map((writer) => writer.next().value as PlannedAppend)).flat();
}

const idsOf = (appends: readonly PlannedAppend[]): string[] =>
  appends.flatMap(({ numbers }) => numbers.map((number) => source.id(number)));

function problemsOf(ids: readonly string[], found = new FoundAppends(source, plan)): string | undefined {
  const problems = new Problems();
  found.take(ids, problems);
  return problems.text;
}

test("what writers appended is found as it was appended, the second time only what is new", () => {
  const found = new FoundAppends(source, plan);
  const problems = new Problems();
  const all = appended();
  expect(found.take(idsOf(all.slice(0, 40)), problems)).toEqual(all.slice(0, 40));
  expect(found.take(idsOf(all), problems)).toEqual(all.slice(40));
  expect(problems.text).toBeUndefined();
  expect(found.count).toBe(idsOf(all).length);
});

test("groups are cut into appends of one stream, and every event is in one", () => {
  for (const writer of [0, 6, 7]) {
    const appends = plan.appends(0, writer);
    for (const append of Array.from({ length: 30 }, () => appends.next().value)) {
      for (const number of append?.numbers ?? []) {
        expect(source.stream(number)).toBe(append?.stream);
        expect(plan.appendOf(number)).toEqual(append);
      }
    }
  }
  const whole = new AppendPlan(source, Infinity, "whole");
  expect(whole.appends(0, 7).next().value?.numbers).toHaveLength(10);
});

test("an append that is missing in the middle is found out", () => {
  expect(problemsOf(idsOf(appended().toSpliced(20, 1)))).toContain("comes where its event");
});

test("an append that is there twice is found out", () => {
  const all = appended();
  expect(problemsOf(idsOf([...all, all[3] as PlannedAppend]))).toContain("is there twice");
});

test("an append of which a part is missing is found out", () => {
  const all = appended();
  const group = all.findIndex(({ numbers }) => numbers.length > 1);
  const ids = idsOf(all);
  const at = idsOf(all.slice(0, group)).length;
  expect(problemsOf(ids.toSpliced(at + 1, 1))).toContain("is torn");
});

test("two appends of one writer in the wrong order are found out", () => {
  const mine = appended().filter((_, index) => index % plan.load.writers === 0);
  expect(problemsOf(idsOf([mine[1], mine[0]] as PlannedAppend[]))).toContain("comes where its event 0 should");
});

test("an event of another run is found out", () => {
  expect(problemsOf([smallEvents(8).id(0)])).toContain("isn't of this run");
});

test("an event that was there and has gone is found out", () => {
  const found = new FoundAppends(source, plan);
  const ids = idsOf(appended());
  expect(problemsOf(ids, found)).toBeUndefined();
  expect(problemsOf(ids.slice(0, -1), found)).toContain("instead of");
});
