import { describe, expect, test } from "vitest";
import { dedupeWindow, openOn, stage } from "./drive.ts";
import { identified, numbered } from "./events.ts";

describe("an append that is repeated", () => {
  test("is known as a whole while a part of it has left the window", async () => {
    const { log } = await stage();
    const first = await log.append("s", identified("a", 4));
    await log.append("t", numbered(dedupeWindow - 2));
    expect(await log.append("s", identified("a", 4))).toEqual({ ...first, isDuplicate: true });
    await expect(log.append("s", identified("a", 2, 3))).rejects.toMatchObject({
      code: "ID_REUSED",
      data: { stream: "s", id: "a3" },
    });
    await log.close();
  });

  test("is known after a crash, a truncation and a reopen, with the same result", async () => {
    const { host, log } = await stage();
    const first = await log.append("s", identified("a", 2), { expect: 0 });
    await log.truncateStream("s", 3);
    const again = await openOn(host.crash());
    expect(await again.append("s", identified("a", 2), { expect: 0 })).toEqual({ ...first, isDuplicate: true });
    expect((await again.streamInfo("s")).firstVersion).toBe(3);
    await again.close();
  });

  test("waits until what it rests on is durable", async () => {
    const { host, log } = await stage();
    await log.append("t", numbered(1));
    const held = host.hold(["dataSync"]);
    const appends = [log.append("s", identified("a", 1)), log.append("s", identified("a", 1))];
    let answered = 0;
    for (const append of appends) void append.then(() => answered++);
    await host.settle();
    expect(answered).toBe(0);
    held.release();
    const [one, two] = await Promise.all(appends);
    expect(two).toEqual({ ...one, isDuplicate: true });
    await log.close();
  });

  test("in two appends of one commit is told apart by its company", async () => {
    const { log } = await stage();
    await log.engine.commit((batch) => {
      log.stageAppend(batch, "s", identified("a", 2));
      log.stageAppend(batch, "s", identified("b", 1));
    });
    expect((await log.append("s", identified("b", 1))).version).toBe(3);
    await expect(log.append("s", [...identified("a", 2), ...identified("b", 1)])).rejects.toMatchObject({
      code: "ID_REUSED",
    });
    await log.close();
  });

  test("is none where its expectation doesn't hold and only a later append has its events", async () => {
    const { log } = await stage();
    const first = log.append("s", numbered(1));
    const early = log.append("s", identified("a", 1), { expect: 2 });
    const later = [log.append("s", numbered(1)), log.append("s", identified("a", 1))];
    await expect(early).rejects.toMatchObject({ code: "CONFLICT", data: { expected: 2, actual: 1 } });
    expect((await Promise.all([first, ...later])).map(({ version }) => version)).toEqual([1, 2, 3]);
    await log.close();
  });
});
