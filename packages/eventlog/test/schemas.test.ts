import { runInNewContext } from "node:vm";
import type { EventLog } from "@ehdb/contracts";
import { type EventSchemas, referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost } from "@ehdb/host";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, test } from "vitest";

type Result = StandardSchemaV1.Result<unknown>;

const schemaOf = (validate: (value: unknown) => Result | Promise<Result>): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate },
});

/** Wants a number of items in each line, and makes strings numbers. */
const lines = schemaOf((value) => {
  const { list } = Object(value) as { list?: unknown };
  if (!Array.isArray(list)) return { issues: [{ message: "a list is missing" }] };
  const counts = list.map(Number);
  const issues = counts.flatMap((count, index) =>
    Number.isInteger(count)
      ? []
      : [{ message: "not a whole number", path: ["list", { key: index }, "count of items"] }],
  );
  return issues.length > 0 ? { issues } : { value: { list: counts } };
});

const open = (schemas: EventSchemas): Promise<EventLog> =>
  referenceEventLog({ host: simulatedHost({ seed: 1 }), schemas });

async function stored(log: EventLog): Promise<unknown[]> {
  const data: unknown[] = [];
  for await (const event of log.scan()) data.push(event.data);
  return data;
}

describe("a schema", () => {
  test("decides what is stored", async () => {
    const log = await open({ placed: lines });
    await log.append("s", { type: "placed", data: { list: ["1", 2], more: true } });
    expect(await stored(log)).toEqual([{ list: [1, 2] }]);
  });

  test("refuses data with type, path, message and the number of issues, and nothing is stored", async () => {
    const log = await open({ placed: lines });
    const events = [
      { type: "placed", data: { list: [1] } },
      { type: "placed", data: { list: [1, "x", "y"] } },
    ];
    await expect(log.append("s", events)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: `data.list[1]["count of items"] of type "placed" doesn't fit its schema: not a whole number (and 1 more)`,
      data: { type: "placed", path: 'data.list[1]["count of items"]', message: "not a whole number", issues: 2 },
    });
    expect(log.position).toBe(0);
  });

  test("is only for its own type, even one called like something that every object has", async () => {
    const log = await open({ placed: lines });
    await log.append("s", [
      { type: "paid", data: 1 },
      { type: "toString", data: 2 },
      { type: "__proto__", data: 3 },
    ]);
    expect(await stored(log)).toEqual([1, 2, 3]);
  });

  test("sees an event without data", async () => {
    const log = await open({ placed: lines });
    await expect(log.append("s", { type: "placed" })).rejects.toMatchObject({ data: { message: "a list is missing" } });
  });

  test("that answers later is refused, since appends keep the order of their calls", async () => {
    const log = await open({ placed: schemaOf(() => Promise.resolve({ value: 1 })) });
    await expect(log.append("s", { type: "placed" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("that isn't one is refused when the log is opened", async () => {
    const wrong = { placed: { parse: () => 1 } } as unknown as EventSchemas;
    await expect(open(wrong)).rejects.toMatchObject({ code: "INVALID_OPTION", data: { option: 'schemas["placed"]' } });
  });

  test("gives the same each time that an append is repeated, or the id counts as reused", async () => {
    let n = 0;
    const log = await open({ counted: schemaOf(() => ({ value: n++ })) });
    await log.append("s", { type: "counted", id: "an id" });
    await expect(log.append("s", { type: "counted", id: "an id" })).rejects.toMatchObject({ code: "ID_REUSED" });
  });

  test("that answers later, or with nothing that a schema gives, is refused, and nothing is stored", async () => {
    const refusals = [
      [runInNewContext("({ then(done) { done({ value: 1 }); } })"), "INVALID_ARGUMENT"],
      [runInNewContext("Promise.resolve({ value: 1 })"), "INVALID_ARGUMENT"],
      [null, "INVALID_OPTION"],
      [undefined, "INVALID_OPTION"],
      [{}, "INVALID_OPTION"],
    ] as const;
    for (const [result, code] of refusals) {
      const log = await open({ placed: schemaOf(() => result as Result) });
      await expect(log.append("s", { type: "placed", data: 1 })).rejects.toMatchObject({ code });
      expect(log.position).toBe(0);
    }
    const log = await open({ placed: schemaOf(() => ({ value: 2, issues: null }) as unknown as Result) });
    await log.append("s", { type: "placed", data: 1 });
    expect(await stored(log)).toEqual([2]);
  });
});
