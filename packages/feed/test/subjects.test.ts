import { referenceFeed, eventLogSource } from "@ehdb/feed";
import { referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { checkPatterns, subjectFilter } from "../src/subjects.ts";

test.each([
  ["order", ["order"], ["order.placed", "orders", ""]],
  ["*", ["order", ""], ["order.placed"]],
  [">", ["order", "order.placed.late", ""], []],
  ["order.*", ["order.placed", "order."], ["order", "order.placed.late", "stock.placed"]],
  ["order.>", ["order.placed", "order.placed.late"], ["order", "stock.low"]],
  ["*.low", ["stock.low"], ["low", "a.b.low"]],
  ["*.*.>", ["a.b.c", "a.b.c.d"], ["a.b"]],
  ["größe.*", ["größe.é"], ["grosse.é"]],
])("the pattern %s", (pattern, matched, others) => {
  const wants = subjectFilter(checkPatterns([pattern]));
  expect(matched.filter((subject) => !wants(subject))).toEqual([]);
  expect(others.filter((subject) => wants(subject))).toEqual([]);
});

test("of several patterns one is enough", () => {
  const wants = subjectFilter(["a.*", "b"]);
  expect(["a.x", "b", "c", "a"].map((subject) => wants(subject))).toEqual([true, true, false, false]);
});

test("a wrong pattern is named, with what is wrong", async () => {
  const host = simulatedHost({ seed: 1 });
  const feed = referenceFeed({ source: eventLogSource(await referenceEventLog({ host })), host });
  await expect(feed.createGroup("g", { subjects: ["a", "order.>.late"] })).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message:
      'the pattern "order.>.late" has tokens behind ">", which stands for all of them. A pattern is like "order.*" or "order.>"',
    data: { option: "subjects", got: "order.>.late" },
  });
});
