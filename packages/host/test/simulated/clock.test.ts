import { type Clock, simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { codeFrom } from "./text.ts";

test("the clock moves only when told", async () => {
  const host = simulatedHost({ seed: 1, startMillis: 1_000_000 });
  await host.files.makeDirectory("/d");
  expect([host.clock.now(), host.clock.monotonic()]).toEqual([1_000_000, 0]);
  await host.advance(2.5);
  expect([host.clock.now(), host.clock.monotonic()]).toEqual([1_000_002.5, 2.5]);
  host.jump(-5000);
  expect([host.clock.now(), host.clock.monotonic()]).toEqual([995_002.5, 2.5]);
});

test("timers fire in the order of their times, then of their setting, each at its time", async () => {
  const { clock, advance } = withAdvance(1);
  const fired: string[] = [];
  const set = (name: string, millis: number): void =>
    void clock.timer(millis, () => fired.push(`${name} at ${clock.monotonic()}`));
  set("c", 30);
  set("a", 10);
  set("b", 10);
  clock.timer(20, () => set("nested", 5));
  set("late", 31);
  await advance(9);
  expect(fired).toEqual([]);
  await advance(21);
  expect(fired).toEqual(["a at 10", "b at 10", "nested at 25", "c at 30"]);
  await advance(1);
  expect(fired.at(-1)).toBe("late at 31");
});

test("a cancelled timer doesn't fire", async () => {
  const { clock, advance } = withAdvance(1);
  let fired = 0;
  const timer = clock.timer(10, () => fired++);
  const cancelledByOther = clock.timer(20, () => fired++);
  clock.timer(15, () => cancelledByOther.cancel());
  timer.cancel();
  timer.cancel();
  await advance(100);
  expect(fired).toBe(0);
});

test("advance settles first and after each timer", async () => {
  const host = simulatedHost({ seed: 1 });
  const events: string[] = [];
  void host.files.list("/").then(() => events.push("queued before"));
  host.clock.timer(1, () => void host.files.makeDirectory("/d/e/f").then(() => events.push("of the first timer")));
  host.clock.timer(2, () => events.push("second timer"));
  await host.advance(2);
  expect(events).toEqual(["queued before", "of the first timer", "second timer"]);
});

test("timers of one incarnation don't fire in the next, whose time goes on", async () => {
  const host = simulatedHost({ seed: 1 });
  let fired = 0;
  host.clock.timer(10, () => fired++);
  await host.advance(5);
  const next = host.kill();
  await next.advance(10);
  expect([fired, next.clock.monotonic()]).toEqual([0, 15]);
});

test("an advance during which the machine dies ends there", async () => {
  const host = simulatedHost({ seed: 1 });
  host.clock.timer(10, () => host.crashAfter(0));
  host.clock.timer(20, () => expect.fail("a timer of a dead process"));
  await host.advance(100);
  expect(host.clock.monotonic()).toBe(10);
});

test("deferred calls keep their order, between operations", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const host = simulatedHost({ seed });
    const events: number[] = [];
    for (let place = 0; place < 5; place++) host.clock.defer(() => events.push(place));
    void host.files.list("/");
    void host.files.list("/");
    await host.clock.yield();
    expect(events).toEqual([0, 1, 2, 3, 4]);
  }
});

test("a deferred call runs after what is running and its microtasks", async () => {
  const { clock } = withAdvance(1);
  const events: string[] = [];
  clock.defer(() => events.push("deferred"));
  for (let link = 0; link < 30; link++) await Promise.resolve();
  events.push("running");
  await clock.yield();
  expect(events).toEqual(["running", "deferred"]);
});

test("operations at once complete in an order of the seed", async () => {
  const orders = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const host = simulatedHost({ seed });
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((place) => host.files.list("/").then(() => order.push(place))));
    orders.add(order.join());
  }
  expect(orders.size).toBe(6);
});

test("random values come from the seed and go on over incarnations", () => {
  const draw = (seed: number): string[] => {
    const host = simulatedHost({ seed });
    const ids = [host.random.id(), host.crash().random.id()];
    expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(ids[0]).not.toBe(ids[1]);
    return ids;
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  const { random } = simulatedHost({ seed: 1 });
  expect(random.bytes(40).length).toBe(40);
  const drawn = Array.from({ length: 10_000 }, () => random.integer(10));
  const counts = Array.from({ length: 10 }, (_, value) => drawn.filter((one) => one === value).length);
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test("jobs run as operations, on copies", async () => {
  const host = simulatedHost({ seed: 1 });
  const job = {
    name: "reverse",
    module: import.meta.url,
    run: async (words: string[]): Promise<string[]> => {
      // Real time within a job: nothing else takes its turn meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      return words.reverse();
    },
  };
  const input = ["a", "b"];
  let listed = false;
  const running = host.workers.run(job, input);
  void host.files.list("/").then(() => (listed = true));
  input.push("c");
  await host.settle();
  expect(listed).toBe(true);
  expect(await running).toEqual(["b", "a"]);
  expect(input).toEqual(["a", "b", "c"]);
  expect(host.operations.job).toBe(1);

  const failing = { ...job, run: (): string[] => expect.fail("it fails") };
  await expect(host.workers.run(failing, input)).rejects.toThrow("it fails");
  const closed = host.workers.run(job, input);
  await host.workers.close();
  expect(await codeFrom(() => closed)).toBe("CLOSED");
  expect(await host.workers.run(job, ["x"])).toEqual(["x"]);
});

function withAdvance(seed: number): { clock: Clock; advance: (millis: number) => Promise<void> } {
  const host = simulatedHost({ seed });
  return { clock: host.clock, advance: (millis) => host.advance(millis) };
}
