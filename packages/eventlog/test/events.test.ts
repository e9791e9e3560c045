import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import type { EventLog, RecordedEvent } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";

const open = (): Promise<EventLog> => referenceEventLog({ host: simulatedHost({ seed: 1 }) });

async function roundTrip(data: unknown, metadata?: object): Promise<RecordedEvent | undefined> {
  const log = await open();
  await log.append("s", { type: "placed", data, metadata });
  for await (const event of log.scan()) return event;
  return undefined;
}

describe("an event that was read", () => {
  test("shows all of itself to a console and to JSON", async () => {
    const event = await roundTrip({ n: 1 }, { actor: "alice" });
    expect(inspect(event)).toContain("{ n: 1 }");
    expect(JSON.parse(JSON.stringify(event))).toMatchObject({ data: { n: 1 }, metadata: { actor: "alice" } });
  });

  test("is decoded once", async () => {
    const event = await roundTrip({ n: 1 }, { actor: "alice" });
    expect(event?.data).toBe(event?.data);
    expect(event?.metadata).toBe(event?.metadata);
  });

  test("holds strings with lone surrogates and keys of any kind as they were", async () => {
    const data = JSON.parse('{"lone":"\\ud800","__proto__":{"x":1},"base64":"AAA="}') as unknown;
    const event = await roundTrip(data);
    expect(JSON.stringify(event?.data)).toBe(JSON.stringify(data));
  });

  test("holds a Buffer's bytes as bytes, also a Buffer that is a part of another", async () => {
    const event = await roundTrip(Buffer.from("xyz").subarray(1, 2));
    expect(event?.data).toEqual(Uint8Array.from([121]));
  });
});

describe("data that JSON can't hold", () => {
  test("is refused when it is nested deeper than the stack", async () => {
    let deep: unknown[] = [];
    for (let i = 0; i < 200_000; i++) deep = [deep];
    await expect(roundTrip(deep)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", data: { path: "data" } });
  });

  test("is refused with what a toJSON threw as cause", async () => {
    const own = new Error("no");
    const data = {
      toJSON: (): never => {
        throw own;
      },
    };
    await expect(roundTrip(data)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", cause: own });
  });

  test("is named where it is, in the order of JSON, and said what to do about", async () => {
    const shared = { ok: true };
    const data = { a: shared, b: [shared, { c: Object(1n) as unknown }] };
    const message = "data.b[1].c is a bigint, which JSON doesn't have: store it as a string";
    await expect(roundTrip(data)).rejects.toMatchObject({ message, data: { path: "data.b[1].c" } });
  });
});

describe("data", () => {
  test("of another realm is taken for what it is", async () => {
    const event = await roundTrip(runInNewContext("new Uint8Array([1, 2, 3])"));
    expect(event?.data).toEqual(new Uint8Array([1, 2, 3]));
  });

  test.each([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["memory itself", new ArrayBuffer(3)],
    ["shared memory", new SharedArrayBuffer(3)],
    ["numbers of another size", new Float64Array(3)],
    ["a proxy of bytes", new Proxy(new Uint8Array(3), {})],
    ["bytes given away", givenAway()],
  ])("that is %s is refused", async (_, data) => {
    await expect(roundTrip(data)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

test("an event's own properties are all but data and metadata", async () => {
  expect(Object.keys({ ...(await roundTrip({ n: 1 })) })).toEqual([
    "id",
    "stream",
    "version",
    "position",
    "time",
    "type",
  ]);
});

function givenAway(): Uint8Array {
  const bytes = new Uint8Array(3);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}
