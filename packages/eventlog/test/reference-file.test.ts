import type { EventLog } from "@ehdb/contracts";
import { referenceEventLog } from "@ehdb/eventlog";
import { simulatedHost, type SimulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";

const file = "/log/events.jsonl";

const open = (host: SimulatedHost): Promise<EventLog> => referenceEventLog({ host, file });

async function numbers(log: EventLog): Promise<unknown[]> {
  const data: unknown[] = [];
  for await (const event of log.scan()) data.push(event.data);
  return data;
}

describe("the reference log's file", () => {
  test("holds every acknowledged append after a crash, and of the others a beginning, at every operation", async () => {
    let crashes = 0;
    for (let operations = 1; operations < 80; operations++) {
      const host = simulatedHost({ seed: operations });
      host.crashAfter(operations);
      let acknowledged = 0;
      const working = (async () => {
        const log = await open(host);
        for (let n = 1; n <= 10; n++) {
          await log.append("s", [
            { type: "counted", data: n },
            { type: "counted", data: -n },
          ]);
          acknowledged = n;
        }
        await log.close();
      })();
      await Promise.race([working, host.whenFrozen()]);
      if (host.frozen) crashes++;
      const log = await open(host.crash());
      const found = await numbers(log);
      const whole = Array.from({ length: found.length / 2 }, (_, index) => [index + 1, -index - 1]).flat();
      expect([operations, found]).toEqual([operations, whole]);
      expect(found.length / 2).toBeGreaterThanOrEqual(acknowledged);
      expect((await log.append("s", { type: "counted" })).version).toBe(found.length + 1);
      await log.close();
    }
    expect(crashes).toBeGreaterThan(20);
  });

  test("has an event before a reader sees it", async () => {
    const host = simulatedHost({ seed: 1 });
    const log = await open(host);
    const held = host.hold(["dataSync"]);
    const appending = log.append("s", { type: "counted", data: 1 });
    const next = log.subscribe()[Symbol.asyncIterator]().next();
    await host.settle();
    expect([await numbers(log), log.position]).toEqual([[], 0]);
    held.release();
    await appending;
    expect(await next).toMatchObject({ value: { position: 1 } });
    await log.close();
  });

  test("is refused when a line of it isn't an entry", async () => {
    const host = simulatedHost({ seed: 1 });
    const log = await open(host);
    await log.append("s", { type: "placed" });
    await log.close();
    host.flipBit(file, 0, 0);
    await expect(open(host)).rejects.toMatchObject({ code: "CORRUPT", data: { file, line: 1 } });
  });

  test("is open once", async () => {
    const host = simulatedHost({ seed: 1 });
    const log = await open(host);
    await expect(open(host)).rejects.toMatchObject({ code: "LOCKED" });
    await log.close();
    await (await open(host)).close();
  });

  test.each(["write", "dataSync"] as const)("stops the log when a %s fails, and reads go on", async (operation) => {
    const host = simulatedHost({ seed: 1 });
    const log = await open(host);
    await log.append("s", { type: "counted", data: 1 });
    host.failNext(operation);
    await expect(log.append("s", { type: "counted", data: 2 })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await expect(log.append("s", { type: "counted", data: 3 })).rejects.toMatchObject({ code: "POISONED" });
    expect(await numbers(log)).toEqual([1]);
    await log.close();
    const again = await open(host);
    expect((await numbers(again)).slice(0, 1)).toEqual([1]);
    await again.close();
  });
});
