import { describe, expect, test } from "vitest";
import { host } from "./temporary.ts";

const { clock, random } = host;

function after(millis: number): Promise<void> {
  return new Promise((resolve) => clock.timer(millis, resolve, true));
}

describe("the clock", () => {
  test("tells the time of the day and one that never goes back", async () => {
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
    const before = clock.monotonic();
    await clock.yield();
    expect(clock.monotonic()).toBeGreaterThanOrEqual(before);
  });

  test("calls once, and not at all after a cancel", async () => {
    let calls = 0;
    const cancelled = clock.timer(0, () => (calls += 100), true);
    clock.timer(0, () => calls++, true);
    cancelled.cancel();
    cancelled.cancel();
    await after(1);
    expect(calls).toBe(1);
  });

  test("doesn't fire a timer at once that is longer than Node's can be", async () => {
    let fired = false;
    const long = clock.timer(2 ** 31 + 1_000, () => (fired = true));
    await after(3);
    expect(fired).toBe(false);
    long.cancel();
  });

  test("defers until what is running and its microtasks are done", async () => {
    const order: string[] = [];
    const deferred = new Promise<void>((resolve) => {
      clock.defer(() => {
        order.push("deferred");
        resolve();
      });
    });
    void Promise.resolve().then(() => order.push("microtask"));
    order.push("running");
    await deferred;
    expect(order).toEqual(["running", "microtask", "deferred"]);
  });
});

describe("randomness", () => {
  test("gives as many bytes as asked for, and others each time", () => {
    expect(random.bytes(0)).toHaveLength(0);
    const first = random.bytes(64);
    expect(first).toHaveLength(64);
    expect(random.bytes(64)).not.toEqual(first);
  });

  test("gives unique names of 32 hexadecimal digits", () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => random.id()));
    expect(ids.size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  test("gives every whole number below the bound, and no other", () => {
    const seen = new Set(Array.from({ length: 1_000 }, () => random.integer(3)));
    expect([...seen].sort()).toEqual([0, 1, 2]);
  });
});
