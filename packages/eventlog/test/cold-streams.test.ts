import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { identified, numbered, range, versionsOf } from "./events.ts";

const names = range(1, 120).map((n) => `cold-${n}`);

describe("streams whose events are only in parts", () => {
  test("are appended to where they ended, and conflict where they don't", async () => {
    const { host, log } = await stage({ sealMaxCommits: 50 });
    for (const name of names) await log.append(name, numbered(2));
    await log.engine.seal();
    await log.close();
    const again = await openOn(host, { sealMaxCommits: 50 });
    expect(again.engine.recovery.replayedRecords).toBe(0);
    for (const name of names) {
      const { code, data } = (await again.append(name, numbered(1), { expect: "none" }).catch((e: unknown) => e)) as {
        code: string;
        data: unknown;
      };
      expect([code, data]).toEqual(["CONFLICT", { stream: name, expected: "none", actual: 2, isDeleted: false }]);
      expect((await again.append(name, numbered(1), { expect: 2 })).version).toBe(3);
      expect(await versionsOf(again.readStream(name))).toEqual([1, 2, 3]);
    }
    await again.close();
  });

  test("keep the order of appends that didn't wait for each other", async () => {
    const { host, log } = await stage();
    for (const name of names) await log.append(name, numbered(1));
    await log.engine.seal();
    await log.close();
    const again = await openOn(host);
    const twice = names.flatMap((name) => [
      again.append(name, numbered(1), { expect: 1 }),
      again.append(name, numbered(1), { expect: 2 }),
    ]);
    const positions = (await Promise.all(twice)).map(({ position }) => position);
    expect(positions).toEqual(range(121, 360));
    await again.close();
  });

  test("know their ids within the window, and that they were deleted", async () => {
    const { host, log } = await stage();
    const first = await log.append("s", identified("a", 3));
    await log.append("t", numbered(2));
    await log.deleteStream("t");
    await log.engine.seal();
    await log.close();
    const again = await openOn(host);
    expect(await again.append("s", identified("a", 3))).toEqual({ ...first, isDuplicate: true });
    await expect(again.append("s", identified("a", 2))).rejects.toMatchObject({ code: "ID_REUSED" });
    await expect(again.append("t", numbered(1), { expect: "exists" })).rejects.toMatchObject({
      code: "CONFLICT",
      data: { actual: 2, isDeleted: true },
    });
    expect((await again.append("t", numbered(1), { expect: "none" })).version).toBe(3);
    await again.close();
  });

  test("that were never truncated or deleted cost appends and reads no look at what might have been", async () => {
    const { host, log } = await stage();
    for (const name of names) await log.append(name, numbered(1));
    await log.engine.seal();
    await log.close();
    const again = await openOn(host);
    const { reads } = again.engine.stats();
    for await (const batch of again.scan().batches()) expect(batch.length).toBeGreaterThan(0);
    expect(again.engine.stats().reads - reads).toBe(1);
    await again.append("new", numbered(1), { expect: "none" });
    expect(again.engine.stats().reads - reads).toBe(1);
    await again.close();
  });
});
