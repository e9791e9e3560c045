import type { EventLog, NewEvent, RecordedEvent } from "@ehdb/contracts";
import { type EventSchemas, referenceEventLog } from "@ehdb/eventlog";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, test } from "vitest";

interface OrderPlaced {
  readonly type: "order-placed";
  readonly data: { readonly orderId: string; readonly total: number };
  readonly metadata?: { readonly actor: string };
}

interface OrderPaid {
  readonly type: "order-paid";
  readonly data: { readonly orderId: string };
}

interface OrderForgotten {
  readonly type: "order-forgotten";
}

type OrderEvent = OrderPlaced | OrderPaid | OrderForgotten;

describe("a log of a union of events", () => {
  test("gives events that are told apart by their type", async () => {
    const log = await referenceEventLog<OrderEvent>();
    expectTypeOf(log).toEqualTypeOf<EventLog<OrderEvent>>();
    await log.append("order-1", [
      { type: "order-placed", data: { orderId: "1", total: 12 }, metadata: { actor: "alice" } },
      { type: "order-paid", data: { orderId: "1" } },
    ]);
    const seen: string[] = [];
    for await (const event of log.readStream("order-1")) {
      expectTypeOf(event.type).toEqualTypeOf<"order-placed" | "order-paid" | "order-forgotten">();
      expectTypeOf(event.position).toEqualTypeOf<number>();
      switch (event.type) {
        case "order-placed":
          expectTypeOf(event).toExtend<RecordedEvent<OrderPlaced>>();
          expectTypeOf(event.data).toEqualTypeOf<{ readonly orderId: string; readonly total: number }>();
          expectTypeOf(event.metadata).toEqualTypeOf<{ readonly actor: string } | undefined>();
          seen.push(`placed ${event.data.total}`);
          break;
        case "order-paid":
          expectTypeOf(event.data).toEqualTypeOf<{ readonly orderId: string }>();
          seen.push(`paid ${event.data.orderId}`);
          break;
        case "order-forgotten":
          expectTypeOf(event).toExtend<RecordedEvent<OrderForgotten>>();
          break;
      }
    }
    expect(seen).toEqual(["placed 12", "paid 1"]);
    await log.close();
  });

  test("takes no event that isn't one of them", () => {
    type Appended = Parameters<EventLog<OrderEvent>["append"]>[1];
    expectTypeOf<{ type: "order-paid"; data: { orderId: string }; id: string }>().toExtend<Appended>();
    expectTypeOf<{ type: "order-forgotten" }>().toExtend<Appended>();
    expectTypeOf<{ type: "order-payed"; data: { orderId: string } }>().not.toExtend<Appended>();
    expectTypeOf<{ type: "order-paid"; data: { orderId: number } }>().not.toExtend<Appended>();
    expectTypeOf<{ type: "order-paid" }>().not.toExtend<Appended>();
    expectTypeOf<RecordedEvent<OrderEvent>>().toExtend<NewEvent<OrderEvent>>();
  });

  test("narrows in batches, scans, subscriptions and consumers as well", () => {
    type Item<S extends AsyncIterable<unknown>> = S extends AsyncIterable<infer I> ? I : never;
    type Log = EventLog<OrderEvent>;
    expectTypeOf<Item<ReturnType<Log["scan"]>>>().toEqualTypeOf<RecordedEvent<OrderEvent>>();
    expectTypeOf<Item<ReturnType<Log["subscribe"]>>>().toEqualTypeOf<RecordedEvent<OrderEvent>>();
    type Batches = ReturnType<ReturnType<ReturnType<Log["consumer"]>["tail"]>["batches"]>;
    expectTypeOf<Item<Batches>>().toEqualTypeOf<readonly RecordedEvent<OrderEvent>[]>();
  });

  test("takes schemas that give what its events hold", () => {
    type Schema<Output> = StandardSchemaV1<unknown, Output>;
    type Schemas = EventSchemas<OrderEvent>;
    expectTypeOf<{ "order-paid": Schema<{ orderId: string }> }>().toExtend<Schemas>();
    expectTypeOf<{ "order-paid": Schema<{ orderId: number }> }>().not.toExtend<Schemas>();
    expectTypeOf<{ anything: Schema<number> }>().toExtend<EventSchemas>();
  });
});

test("a log of any events takes any, and its data is unknown", () => {
  expectTypeOf<RecordedEvent["data"]>().toBeUnknown();
  expectTypeOf<{ type: string; data: { n: number } }>().toExtend<NewEvent>();
});
