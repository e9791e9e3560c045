import { EhdbError } from "@ehdb/contracts";
import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import type { Files, SimulatedHost } from "@ehdb/host";
import type { Stage } from "./drive.ts";
import { fillDisk } from "./disk.ts";
import { bytes, codeOf, contents, fill, KIB, MIB, names, openAt, range, refusal, sequencesOf, stage } from "./drive.ts";

/** Appends until the journal says, and says again, that there is no space; the last sequence that was given out. */
async function fillUp({ host, journal }: Stage, size = 20 * KIB): Promise<number> {
  for (let refused = 0; refused < 3;) {
    try {
      await journal.appendDurable(bytes(size, journal.cursors.appended + 1));
      refused = 0;
    } catch (error) {
      expect(error).toMatchObject({ code: "NO_SPACE", kind: "retry" });
      refused++;
      await host.settle();
    }
  }
  return journal.cursors.appended;
}

describe("on a full disk", () => {
  it("appends throw NO_SPACE before anything is minted, and nothing that was acknowledged is lost", async () => {
    const { host, journal } = await stage();
    await fill(journal, 5, 10);
    await fillDisk(host, MIB);
    const last = await fillUp({ host, journal });
    expect(last).toBeGreaterThan(20);
    expect(journal.state).toBe("no-space");
    const calls = [
      () => journal.append(bytes(20 * KIB)),
      () => journal.appendAll([bytes(20 * KIB)]),
      () => journal.appendDurable(bytes(20 * KIB)),
      () => journal.appendAllDurable([bytes(20 * KIB)]),
    ];
    for (const call of calls) expect(await codeOf(call)).toBe("NO_SPACE");
    expect(journal.cursors).toEqual({ appended: last, written: last, durable: last });
    expect(journal.stats()).toMatchObject({ writeErrors: 0 });
    expect(journal.stats().noSpace).toBeGreaterThanOrEqual(4);
    expect(await sequencesOf(journal.scan())).toEqual(range(1, last));
    const next = await openAt(host.crash("nothing"));
    expect(next.last).toBe(last);
    await next.close();
  });

  it("goes on by itself when there is room again", async () => {
    const { host, journal } = await stage();
    await fillDisk(host, 512 * KIB);
    const last = await fillUp({ host, journal });
    await host.advance(1000);
    expect(journal.state).toBe("no-space");
    host.faults.noSpaceAfterBytes += 4 * MIB;
    await host.advance(250);
    expect(journal.state).toBe("open");
    expect(await journal.appendDurable(bytes(20 * KIB))).toBe(last + 1);
    await journal.close();
  });

  it("takes no more of the disk while it's told not to, and goes on afterwards, also over a reopen", async () => {
    const { host, journal } = await stage();
    const reason = new EhdbError("NO_SPACE", "somebody needs the rest");
    await journal.stopGrowing(reason);
    const before = journal.stats().preallocatedBytes;
    let last = await fillUp({ host, journal });
    expect(last).toBeGreaterThan(20);
    await host.advance(1000);
    expect(journal.stats().preallocatedBytes).toBe(before);
    expect(journal.state).toBe("no-space");
    await expect(journal.appendDurable(bytes(20 * KIB))).rejects.toMatchObject({ code: "NO_SPACE", cause: reason });
    journal.growAgain();
    await host.settle();
    expect([journal.state, await journal.appendDurable(bytes(20 * KIB))]).toEqual(["open", ++last]);
    await journal.stopGrowing(reason);
    host.failNext("dataSync", "EIO", /segment/);
    await journal.appendDurable(bytes(10)).catch(() => undefined);
    await journal.reopen();
    await fillUp({ host, journal });
    expect(journal.state).toBe("no-space");
    journal.growAgain();
    await host.settle();
    expect(journal.state).toBe("open");
    await journal.close();
  });

  it("has told to take no more only when no zeros are being written any more", async () => {
    const { host, journal } = await stage();
    const held = host.hold(["preallocate"], /segment/);
    await fill(journal, 40, 20 * KIB);
    let isStopped = false;
    const stopping = journal.stopGrowing(new EhdbError("NO_SPACE", "somebody needs the rest")).then(() => {
      isStopped = true;
    });
    await host.settle();
    expect(isStopped).toBe(false);
    held.release();
    await stopping;
    const { preallocate } = host.operations;
    await fillUp({ host, journal });
    expect(host.operations.preallocate).toBe(preallocate);
    await journal.close();
  });

  it("who waits for room is told, and who waits again later is served", async () => {
    const { host, journal } = await stage();
    await fillDisk(host, 512 * KIB);
    const waits = range(1, 80).map(() =>
      journal.appendDurable(bytes(20 * KIB)).then(
        () => "durable",
        (error: { code: string }) => error.code,
      ),
    );
    const outcomes = await Promise.all(waits);
    const served = outcomes.filter((outcome) => outcome === "durable").length;
    expect(served).toBeGreaterThan(10);
    expect(outcomes).toEqual([
      ...range(1, served).map(() => "durable"),
      ...range(served + 1, 80).map(() => "NO_SPACE"),
    ]);
    expect(journal.last).toBe(served);
    host.faults.noSpaceAfterBytes = Infinity;
    await host.advance(250);
    expect(await journal.appendDurable(bytes(20 * KIB))).toBe(served + 1);
    await journal.close();
  });

  it.each(["ENOSPC", "EDQUOT"] as const)(
    "%s while space is made ahead is lack of space, not a broken disk",
    async (code) => {
      const { host, journal } = await stage();
      host.failNext("preallocate", code);
      host.failNext("preallocate", code);
      await fill(journal, 40, 30 * KIB).catch(() => undefined);
      await host.advance(1000);
      expect(journal.state).toBe("open");
      await fill(journal, 40, 30 * KIB);
      expect(journal.stats().writeErrors).toBe(0);
      await journal.close();
    },
  );

  it.each(["EMFILE", "ENFILE"])(
    "%s while the next segment is made is tried again, and appends are told why meanwhile",
    async (code) => {
      for (const step of ["open", "syncDirectory"]) {
        const real = simulatedHost({ seed: 1 });
        const failing = { now: false };
        const files = new Proxy(real.files, {
          get(target, name) {
            const value: unknown = target[name as keyof Files];
            const refused = async (path: string, mode?: string): Promise<never> => {
              const error = new Error(`${code}: too many open files, open '${path}'`);
              throw Object.assign(error, { code, path, mode });
            };
            if (name === step && failing.now) return refused;
            return typeof value === "function" ? (value.bind(target) as unknown) : value;
          },
        });
        const { clock, random, workers } = real;
        const journal = await openAt({ files, clock, random, workers }, { segmentBytes: MIB, reserveBytes: 0 });
        failing.now = true;
        const error = await refusal(() => fill(journal, 60, 30 * KIB));
        expect(error).toMatchObject({ code: "NO_SPACE", kind: "retry", data: { cause: "files", errno: code } });
        expect(error.message).toContain("ulimit");
        expect(error.cause).toMatchObject({ code });
        expect(journal.state).toBe("no-space");
        const { last } = journal;
        expect(journal.cursors).toEqual({ appended: last, written: last, durable: last });
        await real.advance(2000);
        expect(journal.state).toBe("no-space");
        failing.now = false;
        await real.advance(250);
        expect(journal.state).toBe("open");
        await fill(journal, 60, 30 * KIB);
        expect(journal.last).toBe(last + 60);
        expect(await journal.close()).toMatchObject({ state: "clean" });
        const again = await openAt(real);
        expect(await sequencesOf(again.scan())).toEqual(range(1, last + 60));
        await again.close();
      }
    },
  );

  it("dropBefore works, frees space, and appends go on at once", async () => {
    const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
    await fill(journal, 40, 60 * KIB);
    await host.settle();
    await fillDisk(host, 200 * KIB);
    const last = await fillUp({ host, journal });
    expect(journal.state).toBe("no-space");
    const report = await journal.dropBefore(last - 2);
    expect(report.segmentsRemoved).toBeGreaterThan(0);
    await host.settle();
    expect(journal.state).toBe("open");
    expect(await journal.appendDurable(bytes(20 * KIB))).toBe(last + 1);
    await journal.close();
  });

  it("flush, close and the next clean open work", async () => {
    const { host, journal } = await stage({ durability: "async" });
    await fillDisk(host, 512 * KIB);
    let last = 0;
    for (;;) {
      try {
        await journal.ready(20 * KIB);
        last = journal.append(bytes(20 * KIB));
      } catch {
        break;
      }
    }
    expect(await journal.flush()).toBe(last);
    expect((await journal.close()).state).toBe("clean");
    const again = await openAt(host);
    expect(again.last).toBe(last);
    await again.close();
  });
});

describe("opening on a full disk", () => {
  /** A journal of ten records whose process died, on a disk with no room at all. */
  async function stuck(reserveBytes: number): Promise<SimulatedHost> {
    const { host, journal } = await stage({ reserveBytes });
    await fill(journal, 10, 100);
    const next = host.kill();
    await fillDisk(next);
    return next;
  }

  it("uses up the reserve, and makes it anew when there is room", async () => {
    const host = await stuck(MIB);
    expect((await host.files.stat("/j/space.reserve"))?.bytes).toBe(MIB);
    const journal = await openAt(host);
    expect(journal.state).not.toBe("read-only");
    expect(journal.last).toBe(10);
    expect(await journal.appendDurable(bytes(100))).toBe(11);
    await journal.close();
    host.faults.noSpaceAfterBytes = Infinity;
    const again = await openAt(host);
    expect((await host.files.stat("/j/space.reserve"))?.bytes).toBe(MIB);
    expect(again.last).toBe(11);
    await again.close();
  });

  it("without a reserve is read-only, shows what is stated durable, and changes nothing", async () => {
    const host = await stuck(0);
    const before = await contents(host);
    const journal = await openAt(host, { reserveBytes: 0 });
    expect(journal.state).toBe("read-only");
    expect(journal.last).toBe(9);
    expect(await sequencesOf(journal.scan())).toEqual(range(1, 9));
    const calls = [
      () => journal.append(bytes(1)),
      () => journal.appendAll([bytes(1)]),
      () => journal.appendDurable(bytes(1)),
      () => journal.flush(),
      () => journal.ready(),
      () => journal.dropBefore(2),
    ];
    for (const call of calls) expect(await refusal(call)).toMatchObject({ code: "READ_ONLY" });
    expect(journal.cursors).toEqual({ appended: 9, written: 9, durable: 9 });
    expect(await contents(host)).toEqual(before);
    expect(await journal.close()).toMatchObject({ state: "clean" });
  });

  it("reopen() makes it writable once there is room, and brings back what was only written", async () => {
    const host = await stuck(0);
    const journal = await openAt(host, { reserveBytes: 0 });
    await journal.reopen();
    expect(journal.state).toBe("read-only");
    host.faults.noSpaceAfterBytes = Infinity;
    expect(await journal.reopen()).toMatchObject({ last: 10 });
    expect(journal.state).toBe("open");
    expect(await journal.appendDurable(bytes(1))).toBe(11);
    expect(journal.stats().reopens).toBe(2);
    await journal.close();
  });

  it("of a new journal is refused with NO_SPACE, leaves at most its lock behind, and opens once there is room", async () => {
    for (const room of [0, 1, 4 * KIB, 8 * KIB]) {
      const host = simulatedHost({ seed: 1 });
      await host.files.makeDirectory("/j");
      host.faults.noSpaceAfterBytes = room;
      for (let tries = 0; tries < 2; tries++) {
        const error = await refusal(() => openAt(host));
        expect(error.code).toBe("NO_SPACE");
        expect(error.message).toMatch(/disk is full.*Free some space/);
        expect((await names(host)).filter((name) => name !== "LOCK")).toEqual([]);
      }
      host.faults.noSpaceAfterBytes = Infinity;
      const journal = await openAt(host);
      expect(journal.state).toBe("open");
      expect(await journal.appendDurable(bytes(10))).toBe(1);
      await journal.close();
    }
  });
});

describe("the reserve", () => {
  it("is as large as said, changes with the option, and goes at 0", async () => {
    const host = simulatedHost({ seed: 1 });
    for (const reserveBytes of [MIB, 3 * MIB, 64 * KIB, 0, 1]) {
      await (await openAt(host, { reserveBytes })).close();
      expect((await host.files.stat("/j/space.reserve"))?.bytes ?? 0).toBe(reserveBytes);
    }
    expect((await names(host)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("that finds no room leaves the journal open and nothing half made", async () => {
    const host = simulatedHost({ seed: 1, faults: { noSpaceAfterBytes: 3 * MIB } });
    const journal = await openAt(host, { reserveBytes: 16 * MIB });
    expect(journal.state).toBe("open");
    expect((await names(host)).filter((name) => name.includes("reserve"))).toEqual([]);
    await journal.close();
  });
});
