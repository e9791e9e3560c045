import type { JournalRecord } from "@ehdb/journal";
import { expect, test } from "vitest";
import { Comparison } from "../src/comparison.ts";
import { EventSource } from "../src/event-source.ts";
import { LoadPlan } from "../src/load-plan.ts";

const source = new EventSource(7, [
  { stream: "s", type: "t", data: Buffer.from('{"a":1}') },
  { stream: "s", type: "u", data: Buffer.from('{"b":"two"}') },
]);
const plan = new LoadPlan(100, source.maxBytes);

/** What a log holds when the writers have appended all in turn. */
function appended(): number[] {
  const numbers: number[] = [];
  for (let turn = 0, more = true; more; turn++) {
    more = false;
    for (let writer = 0; writer < plan.writers; writer++) {
      const append = plan.numbers(0, writer, turn);
      if (append.length > 0) more = true;
      numbers.push(...append);
    }
  }
  return numbers;
}

const record = (sequence: number, data: Uint8Array): JournalRecord => ({ sequence, data, time: 0, epoch: 1 });
const log = (): JournalRecord[] => appended().map((number, i) => record(i + 1, source.bytes(number)));

function compare(records: readonly JournalRecord[]): Comparison {
  const comparison = new Comparison(source, plan);
  for (const each of records) comparison.see(each);
  comparison.finish(new Map(appended().map((number, i) => [number, i + 1])));
  return comparison;
}

const renumbered = (records: readonly JournalRecord[]): JournalRecord[] =>
  records.map(({ data }, i) => record(i + 1, data));

test("a log as it was appended is equal", () => {
  const comparison = compare(log());
  expect(comparison.problems.text).toBeUndefined();
  expect(comparison.seen.size).toBe(100);
  expect(comparison.lost).toBe(0);
});

test("a reader that drops an event is found out", () => {
  const comparison = compare(log().toSpliced(41, 1));
  expect(comparison.problems.text).toContain("sequence 43 comes after 41");
  expect(comparison.lost).toBe(1);
});

test("a log without its last event is found out", () => {
  expect(compare(log().slice(0, -1)).lost).toBe(1);
});

test("a dropped event is found out when the sequences are closed up behind it", () => {
  const comparison = compare(renumbered(log().toSpliced(41, 1)));
  expect(comparison.problems.none).toBe(false);
  expect(comparison.lost).toBe(1);
});

test("an event that comes twice is found out", () => {
  const records = log();
  expect(compare(renumbered([...records, records[10] as JournalRecord])).problems.text).toContain(
    "twice: at 11 and at 101",
  );
});

test("two events of one writer in the wrong order are found out, with or without acknowledgements", () => {
  const records = log().filter(({ data }) => plan.place(source.numberOf(data) as number).writer === 0);
  const swapped = renumbered([records[1], records[0], ...records.slice(2)] as JournalRecord[]);
  const comparison = new Comparison(source, plan);
  for (const each of swapped) comparison.see(each);
  expect(comparison.problems.text).toContain("writer 0 appended its event 0 before 1");
});

test("one changed byte behind the id is found out", () => {
  const records = log();
  const data = Uint8Array.from((records[5] as JournalRecord).data);
  data[data.length - 3] = (data.at(-3) as number) ^ 1;
  const comparison = compare(records.with(5, record(6, data)));
  expect(comparison.problems.text).toContain("sequence 6: the bytes of event");
  expect(comparison.problems.count).toBe(1);
});

test("bytes of another run are found out", () => {
  const other = new EventSource(8, [{ stream: "s", type: "t", data: Buffer.from('{"a":1}') }]);
  expect(compare(log().with(3, record(4, other.bytes(0)))).problems.text).toContain("no event of this run");
});

test("a group of which only a part is there is torn", () => {
  const comparison = new Comparison(source, plan);
  const group = plan.numbers(0, plan.writers - 1, 0);
  expect(group).toHaveLength(10);
  group.slice(0, 4).forEach((number, i) => comparison.see(record(i + 1, source.bytes(number))));
  comparison.finish(new Map());
  expect(comparison.problems.text).toContain("a group of 10 is torn");
});

test("every event of a plan belongs to one writer, in order, and rounds share none", () => {
  expect(new Set(appended()).size).toBe(100);
  const first = plan.numbers(0, 3, 0)[0] as number;
  const second = plan.numbers(1, 3, 0)[0] as number;
  expect(second).not.toBe(first);
  expect(plan.place(second)).toEqual({ round: 1, writer: 3, index: 0 });
});

test("one seed gives the same events, another seed others", () => {
  const payloads = [{ stream: "s", type: "t", data: Buffer.from("{}") }];
  const again = new EventSource(7, payloads);
  expect(new EventSource(7, payloads).bytes(5)).toEqual(again.bytes(5));
  expect(new EventSource(8, payloads).id(5)).not.toBe(again.id(5));
  expect(again.numberOf(again.bytes(123_456))).toBe(123_456);
  expect(JSON.parse(Buffer.from(again.bytes(5)).toString())).toEqual({
    id: again.id(5),
    type: "t",
    data: {},
  });
});
