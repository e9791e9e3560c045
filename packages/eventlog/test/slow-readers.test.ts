import type { EventStream } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import type { Stage } from "./drive.ts";
import { stage } from "./drive.ts";
import { iteratorOf, numbered, range, refusalOf } from "./events.ts";

/** Six hundred events of two streams in several parts, which nothing merges by itself. */
async function inParts(): Promise<Stage> {
  const staged = await stage({ pinIdleSeconds: 10, background: false });
  for (const n of range(1, 60)) {
    await staged.log.append(`s${n % 2}`, numbered(10, n * 10 - 9));
    if (n % 10 === 0) await staged.log.engine.seal();
  }
  return staged;
}

/** What replaced the parts lets go of those that nobody has used for so long. */
async function standStill({ host, log }: Stage): Promise<void> {
  await log.engine.merge();
  await host.advance(21_000);
  expect(log.engine.stats()).toMatchObject({ pins: 0, pins_expired: 1 });
}

describe("who deals with an event for longer than parts are kept", () => {
  test.each<[string, (staged: Stage) => EventStream, number[]]>([
    ["a subscription", ({ log }) => log.subscribe(), range(1, 600)],
    ["a consumer", ({ log }) => log.consumer("c").tail(), range(1, 600)],
    [
      "a subscription of one stream",
      ({ log }) => log.subscribe({ stream: "s1" }),
      range(1, 600).filter((n) => Math.ceil(n / 10) % 2 === 1),
    ],
  ])("goes on: %s gets every event once", async (_, streamOf, positions) => {
    const staged = await inParts();
    const seen: number[] = [];
    const iterator = iteratorOf(streamOf(staged));
    while (seen.length < positions.length) {
      const next = await iterator.next();
      if (next.done === true) break;
      seen.push(next.value.position);
      if (seen.length === 3) await standStill(staged);
    }
    expect(seen).toEqual(positions);
    await iterator.return?.();
    await staged.log.close();
  });

  test("is told when what comes next was reclaimed meanwhile", async () => {
    const staged = await inParts();
    const iterator = iteratorOf(staged.log.subscribe());
    await iterator.next();
    await staged.log.reclaim({ maxEvents: 10 });
    await standStill(staged);
    let refusal = "not refused";
    for (const _ of range(1, 600)) {
      refusal = await refusalOf(iterator.next());
      if (refusal !== "not refused") break;
    }
    expect(refusal).toBe("COMPACTED");
    await staged.log.close();
  });

  test("is told in a read of one moment, which can't go on elsewhere", async () => {
    const staged = await inParts();
    const batches = staged.log.scan().batches()[Symbol.asyncIterator]();
    await batches.next();
    await standStill(staged);
    expect(await refusalOf(batches.next())).toBe("COMPACTED");
    await staged.log.close();
  });
});
