import { KIB, MIB } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { iteratorOf, numbered, range, refusalOf } from "./events.ts";

describe("a subscription", () => {
  test("that is slow holds about a megabyte of events, however much is written meanwhile", async () => {
    const { log } = await stage({ sealMaxBytes: MIB });
    const batches = log.subscribe().batches()[Symbol.asyncIterator]();
    const data = "x".repeat(64 * KIB);
    for (let n = 0; n < 100; n++) await log.append("s", { type: "large", data });
    const sizes: number[] = [];
    for (let seen = 0; seen < 100;) {
      const next = await batches.next();
      if (next.done === true) break;
      sizes.push(next.value.length);
      seen += next.value.length;
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(17);
    await log.close();
  });

  test("goes on from a checkpoint in the next life of the log, over parts and memory", async () => {
    const { host, log } = await stage({ sealMaxCommits: 10 });
    for (let n = 1; n <= 35; n++) await log.append(`s${n % 3}`, numbered(1, n));
    const begun = log.subscribe({ stream: "s1" });
    const first = iteratorOf(begun);
    const seen = [(await first.next()).value?.position, (await first.next()).value?.position];
    await first.return?.();
    await log.close();
    const again = await openOn(host, { sealMaxCommits: 10 });
    const rest = iteratorOf(again.subscribe({ stream: "s1", after: begun.checkpoint }));
    while (seen.length < 12) seen.push((await rest.next()).value?.position);
    expect(seen).toEqual(range(0, 11).map((n) => 1 + 3 * n));
    await again.close();
  });

  test("isn't continued behind what a power failure took back", async () => {
    const { host, log } = await stage({ durability: "async" });
    await log.append("s", numbered(1));
    await log.engine.flush();
    await log.append("s", numbered(3));
    const subscription = log.subscribe();
    const iterator = iteratorOf(subscription);
    for (const _ of range(1, 4)) await iterator.next();
    expect(subscription.checkpoint.position).toBe(4);
    const again = await openOn(host.crash("nothing"), { durability: "async" });
    expect(again.position).toBe(1);
    await again.append("s", numbered(5));
    const { checkpoint } = subscription;
    await expect(iteratorOf(again.subscribe({ after: checkpoint })).next()).rejects.toMatchObject({
      code: "TRUNCATED",
      data: { position: 4, epoch: checkpoint.epoch, last: 6 },
    });
    const trusted = iteratorOf(again.subscribe({ after: checkpoint.position }));
    expect((await trusted.next()).value?.position).toBe(5);
    await again.close();
  });

  test("that shows what isn't durable yet goes on over a failing disk and a reopen", async () => {
    const { host, log } = await stage({ durability: "async" });
    await log.append("s", numbered(3));
    const iterator = iteratorOf(log.subscribe());
    for (const _ of range(1, 3)) await iterator.next();
    const next = iterator.next();
    host.failNext("dataSync");
    await expect(log.engine.flush()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await log.engine.reopen();
    await log.append("s", numbered(1));
    expect((await next).value?.position).toBe(4);
    await log.close();
  });

  test("that ended leaves nobody waiting in the engine", async () => {
    const { log } = await stage();
    for (let n = 0; n < 50; n++) {
      const stop = new AbortController();
      const next = iteratorOf(log.subscribe({ signal: stop.signal })).next();
      const refusal = refusalOf(next);
      stop.abort();
      expect(await refusal).toBe("ABORTED");
    }
    const iterator = iteratorOf(log.subscribe());
    const next = iterator.next();
    await log.append("s", numbered(1));
    expect((await next).value?.position).toBe(1);
    await log.close();
  });
});
