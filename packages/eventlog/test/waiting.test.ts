import { KIB } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { stage } from "./drive.ts";
import { numbered, range, refusalOf } from "./events.ts";

const large = { type: "large", data: "x".repeat(200 * KIB) };

describe("when the disk is behind", () => {
  test("ready() waits, appends wait their turn, and all are stored in order when it goes on", async () => {
    const { host, log } = await stage({ maxInFlightBytes: 1024 * KIB });
    const held = host.hold(["dataSync"]);
    const appends = range(1, 12).map(() => log.append("s", large));
    let isReady = false;
    const ready = log.ready().then(() => {
      isReady = true;
    });
    await host.settle();
    expect(isReady).toBe(false);
    held.release();
    await ready;
    expect((await Promise.all(appends)).map(({ version }) => version)).toEqual(range(1, 12));
    await log.close();
  });

  test("an append that waits for room can be given up, and then isn't stored", async () => {
    const { host, log } = await stage({ maxInFlightBytes: 1024 * KIB });
    const held = host.hold(["dataSync"]);
    const appends = range(1, 8).map(() => log.append("s", large));
    const stop = new AbortController();
    const late = log.append("s", large, { signal: stop.signal });
    const refusal = refusalOf(late);
    await host.settle();
    stop.abort();
    expect(await refusal).toBe("ABORTED");
    held.release();
    await Promise.all(appends);
    expect(log.position).toBe(8);
    await log.close();
  });

  test("what waits behind a delete can be given up, and so can the delete", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(2));
    const held = host.hold(["dataSync"]);
    const before = log.append("t", numbered(1));
    const deleting = log.deleteStream("s");
    const stop = new AbortController();
    const { signal } = stop;
    const refusals = [log.deleteStream("t", { signal }), log.append("s", numbered(1), { signal })].map(refusalOf);
    const behind = log.append("s", numbered(1), { expect: "none" });
    await host.settle();
    stop.abort();
    expect(await Promise.all(refusals)).toEqual(["ABORTED", "ABORTED"]);
    held.release();
    expect((await before).position).toBe(3);
    expect(await deleting).toMatchObject({ version: 2, isDeleted: true });
    expect((await behind).version).toBe(3);
    expect((await log.streamInfo("t")).isDeleted).toBe(false);
    await log.close();
  });

  test("a close finishes what was called before it, appends, deletes and acks", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(2));
    const held = host.hold(["dataSync"]);
    const calls = [
      log.append("t", numbered(1)),
      log.deleteStream("s"),
      log.append("s", numbered(1), { expect: "none" }),
      log.consumer("c").ack(2),
    ];
    const closing = log.close();
    await expect(log.append("s", numbered(1))).rejects.toMatchObject({ code: "CLOSED" });
    held.release();
    await closing;
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"));
  });

  test("a full disk is said before anything is stored, and appends go on when there is room", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(1));
    host.faults.noSpaceAfterBytes = 0;
    let stored = 1;
    const filling = async (): Promise<void> => {
      for (; stored < 200; stored++) await log.append("s", large);
    };
    await expect(filling()).rejects.toMatchObject({ code: "NO_SPACE" });
    expect(log.position).toBe(stored);
    host.faults.noSpaceAfterBytes = Infinity;
    await host.advance(2000);
    await log.ready();
    expect((await log.append("s", numbered(1))).version).toBe(stored + 1);
    await log.close();
  });
});
