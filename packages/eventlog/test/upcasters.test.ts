import type { EventLog, RecordedEvent } from "@ehdb/contracts";
import { type EventUpcasters, referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";

const open = (upcasters: EventUpcasters): Promise<EventLog> =>
  referenceEventLog({ host: simulatedHost({ seed: 1 }), upcasters });

async function read(log: EventLog): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of log.scan()) events.push(event);
  return events;
}

const amountOf = (event: RecordedEvent): number => (event.data as { amount: number }).amount;

describe("an upcaster", () => {
  test("changes type and data when an event is read, and keeps its place, its id and its metadata", async () => {
    const log = await open({ placed: (event) => ({ type: "placed-2", data: { cents: amountOf(event) * 100 } }) });
    const metadata = { actor: "alice" };
    const result = await log.append("s", { id: "an id", type: "placed", data: { amount: 3 }, metadata });
    const [event] = await read(log);
    expect(event?.toString).toBeDefined();
    expect(JSON.parse(JSON.stringify(event))).toEqual({
      id: "an id",
      stream: "s",
      version: 1,
      position: 1,
      time: result.time,
      type: "placed-2",
      data: { cents: 300 },
      metadata,
    });
  });

  test("may change metadata too, and read all that was stored", async () => {
    const log = await open({
      placed: ({ id, stream, version, position }) => ({ type: "seen", metadata: { id, stream, version, position } }),
    });
    await log.append("s", { id: "an id", type: "placed", data: 1 });
    const [event] = await read(log);
    expect(event?.data).toBeUndefined();
    expect(event?.metadata).toEqual({ id: "an id", stream: "s", version: 1, position: 1 });
  });

  test("follows another, until there is none for the type", async () => {
    const log = await open({
      a: (event) => ({ type: "b", data: [event.data, "b"] }),
      b: (event) => ({ type: "c", data: [event.data, "c"] }),
      d: () => ({ type: "never" }),
    });
    await log.append("s", [
      { type: "a", data: "a" },
      { type: "b", data: "a" },
      { type: "c", data: "a" },
    ]);
    const events = (await read(log)).map(({ type, data }) => [type, data]);
    expect(events).toEqual([
      ["c", [["a", "b"], "c"]],
      ["c", ["a", "c"]],
      ["c", "a"],
    ]);
  });

  test("that keeps the type is applied once", async () => {
    const log = await open({ a: (event) => ({ type: "a", data: [event.data] }) });
    await log.append("s", { type: "a", data: 1 });
    const [event] = await read(log);
    expect([event?.type, event?.data]).toEqual(["a", [1]]);
  });

  test("in a circle is refused, and the circle named", async () => {
    const log = await open({ a: () => ({ type: "b" }), b: () => ({ type: "c" }), c: () => ({ type: "b" }) });
    await log.append("s", { type: "a" });
    const [event] = await read(log);
    const error = { code: "INVALID_OPTION", data: { types: "a -> b -> c -> b" } };
    expect(() => event?.type).toThrow(expect.objectContaining(error));
  });

  test("runs when the event is first looked at, once, and what it throws doesn't end the read", async () => {
    let calls = 0;
    const log = await open({
      a: ({ data }) => {
        calls++;
        if (data === "bad") throw new Error("a bad event");
        return { type: "b", data };
      },
    });
    await log.append("s", [
      { type: "a", data: "bad" },
      { type: "a", data: "good" },
    ]);
    const [bad, good] = await read(log);
    expect(calls).toBe(0);
    expect([good?.type, good?.data, good?.type]).toEqual(["b", "good", "b"]);
    expect(calls).toBe(1);
    expect(() => bad?.data).toThrow("a bad event");
  });

  test("doesn't change what a filter of types wants: what was stored", async () => {
    const log = await open({ a: () => ({ type: "b" }) });
    await log.append("s", [{ type: "a" }, { type: "b" }]);
    const seen: number[] = [];
    for await (const { position } of log.scan({ types: ["a"] })) seen.push(position);
    expect(seen).toEqual([1]);
  });

  test("that isn't a function, or doesn't give an event, is refused", async () => {
    await expect(open({ a: 1 } as unknown as EventUpcasters)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    const log = await open({ a: () => ({}) as never });
    await log.append("s", { type: "a" });
    const [event] = await read(log);
    expect(() => event?.type).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
