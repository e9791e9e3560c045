import { KIB, MIB, isEhdbError } from "@ehdb/contracts";
import type { OperationKind, SimulatedHost } from "@ehdb/host";
import { simulatedHost } from "@ehdb/host";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn } from "./drive.ts";

const page = 4 * KIB;
const wholeDisk = 2 ** 40;
const reserved = 512 * KIB;
const options = { reserveBytes: 64 * KIB, sealReserveBytes: reserved, manifestRetain: 1, background: false };

/** Leaves so much room. */
async function leave(host: SimulatedHost, bytes: number): Promise<void> {
  host.faults.noSpaceAfterBytes = wholeDisk;
  host.faults.noSpaceAfterBytes = wholeDisk - (await host.files.freeBytes("/")) + bytes;
}

async function untilWhole(host: SimulatedHost, engine: DurableEngine, bytes: number = reserved): Promise<void> {
  for (let turn = 0; turn < 20 && engine.stats().reserve_bytes !== bytes; turn++) await host.advance(500);
  expect(engine.stats().reserve_bytes).toBe(bytes);
}

const payloadOf = (number: number): Uint8Array => Buffer.alloc(2000, `${number} `);

async function commit(engine: DurableEngine, number: number): Promise<void> {
  await engine.commit((batch) => {
    batch.append("events", `k${number % 5}`, payloadOf(number), `id-${number}`);
    batch.put("state", `k${number % 7}`, payloadOf(number));
  });
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "done";
  } catch (error) {
    return isEhdbError(error) ? error.code : String(error);
  }
}

/** The events are those of the first commits; how many. */
async function checkAll(engine: DurableEngine, where: string): Promise<number> {
  let number = 0;
  for await (const records of engine.log("events").scan()) {
    for (const { payload } of records)
      expect(Buffer.compare(payload, payloadOf(++number)), `${where}: record ${number}`).toBe(0);
  }
  for (let key = 0; key < 7; key++) {
    const last = number - ((((number - key) % 7) + 7) % 7);
    const value = await engine.map("state").get(`k${key}`);
    if (last > 0) expect(Buffer.compare(value?.payload ?? Buffer.alloc(0), payloadOf(last)), where).toBe(0);
  }
  return number;
}

const commits = 12;

/** What is to be sealed, and a reserve that is whole. */
async function prepared(
  seed: number,
  more: Partial<EngineOptions> = {},
): Promise<{ host: SimulatedHost; engine: DurableEngine }> {
  const host = simulatedHost({ seed });
  const engine = await openOn(host, { ...options, ...more });
  for (let i = 1; i <= commits; i++) await commit(engine, i);
  await untilWhole(host, engine, more.sealReserveBytes);
  return { host, engine };
}

const large = (engine: DurableEngine): Promise<string> =>
  codeOf(engine.commit((batch) => batch.append("events", "large", Buffer.alloc(2 * MIB))));

describe("a disk that fills anywhere in a seal", () => {
  test("seals on the reserve, loses nothing, refuses commits before anything is given out, and makes the reserve again", async () => {
    let onReserve = 0;
    for (let pages = 0; pages <= 40; pages++) {
      const where = `${pages} pages left`;
      const { host, engine } = await prepared(1 + pages);
      await leave(host, pages * page);
      expect(await codeOf(engine.seal()), where).toBe("done");
      expect(engine.heads, where).toMatchObject({ sealed: commits, durable: commits });
      const { reserve_used: used, seal_failed: failed } = engine.stats();
      expect(failed, where).toBe(0);
      onReserve += Math.sign(used);
      if (used > 0) {
        await host.advance(2000);
        expect(engine.stats().reserve_bytes, where).toBeLessThan(reserved);
      }
      expect(await large(engine), where).toBe("NO_SPACE");
      expect(engine.heads.accepted, where).toBe(commits);
      host.faults.noSpaceAfterBytes = Infinity;
      await untilWhole(host, engine);
      await host.advance(500);
      expect(await checkAll(engine, where)).toBe(commits);
      expect(await large(engine), where).toBe("done");
      await engine.close();
    }
    expect(onReserve).toBeGreaterThan(10);
  });

  test("and a crash there loses nothing, with the disk still full at the open", async () => {
    const kinds = [
      "create",
      "write",
      "dataSync",
      "truncate",
      "remove",
      "rename",
      "syncDirectory",
    ] as const satisfies OperationKind[];
    const states = new Map<string, number>();
    for (const pages of [0, 3, 9]) {
      for (const operation of kinds) {
        for (let nth = 1; nth <= 4; nth++) {
          for (const when of ["before", "after"] as const) {
            const where = `${pages} pages left, crash ${when} ${operation} ${nth}`;
            const { host, engine } = await prepared(pages + nth);
            await leave(host, pages * page);
            const limit = host.faults.noSpaceAfterBytes;
            host.crashAt({ operation, nth, when });
            await Promise.race([engine.seal().then(() => host.advance(2000)), host.whenFrozen()]);
            const next = host.crash();
            next.faults.noSpaceAfterBytes = limit;
            const again = await openOn(next, options);
            states.set(again.state, (states.get(again.state) ?? 0) + 1);
            expect(await checkAll(again, where), where).toBe(commits);
            next.faults.noSpaceAfterBytes = Infinity;
            await again.reopen();
            await untilWhole(next, again);
            await commit(again, commits + 1);
            await again.seal();
            expect(await checkAll(again, where), where).toBe(commits + 1);
            await again.close();
          }
        }
      }
    }
    expect(states.get("open")).toBeGreaterThan(100);
  });
});

describe("a disk that fills anywhere in a switch of the manifest", () => {
  test("opens on the reserve; without one it can be read, and written when there is room", async () => {
    const states: string[] = [];
    for (const sealReserveBytes of [reserved, 0]) {
      for (let pages = 0; pages <= 10; pages++) {
        const where = `${sealReserveBytes} in reserve, ${pages} pages left`;
        const { host, engine } = await prepared(1 + pages, { sealReserveBytes, reserveBytes: 64 * KIB });
        await engine.close();
        if (sealReserveBytes === 0) await host.files.remove("/store/journal/space.reserve");
        await leave(host, pages * page);
        const again = await openOn(host, { ...options, sealReserveBytes, reserveBytes: sealReserveBytes / 8 });
        states.push(`${sealReserveBytes} ${again.state}`);
        await checkFull(host, again, where);
        host.faults.noSpaceAfterBytes = Infinity;
        await again.reopen();
        await untilWhole(host, again, sealReserveBytes);
        await commit(again, commits + 1);
        await again.seal();
        expect(await checkAll(again, where)).toBe(commits + 1);
        await again.close();
      }
    }
    expect(states.filter((state) => state === `${reserved} open`)).toHaveLength(11);
    expect(states).toContain("0 read-only");
  });

  test("leaves a store that can be read up to what is durable, when only the manifest finds no room", async () => {
    const { host, engine } = await prepared(1, { sealReserveBytes: 0 });
    await engine.close();
    host.failNext("create", "ENOSPC", /manifest-/);
    const again = await openOn(host, { ...options, sealReserveBytes: 0 });
    expect([again.state, again.revision]).toEqual(["read-only", commits]);
    await checkFull(host, again, "at the open");
    await again.close();
    const third = await openOn(host, options);
    await commit(third, commits + 1);
    expect(await checkAll(third, "at the third open")).toBe(commits + 1);
    await third.close();
  });

  test("is NO_SPACE for a store that isn't there yet", async () => {
    const host = simulatedHost({ seed: 1 });
    host.failNext("create", "ENOSPC", /manifest-/);
    expect(await codeOf(openOn(host, options))).toBe("NO_SPACE");
    expect(await codeOf(openOn(host, options))).toBe("done");
  });
});

/** Whatever the state, all can be read; what can only be read takes nothing in, before and after a reopen that finds no room. */
async function checkFull(host: SimulatedHost, engine: DurableEngine, where: string): Promise<void> {
  expect(await checkAll(engine, where)).toBe(commits);
  if (engine.state !== "read-only") return;
  expect(await codeOf(commit(engine, commits + 1)), where).toBe("READ_ONLY");
  expect(await codeOf(engine.seal()), where).toBe("READ_ONLY");
  if (host.faults.noSpaceAfterBytes === Infinity) return;
  expect(await codeOf(engine.reopen()), where).toBe("done");
  expect(engine.state, where).toBe("read-only");
}

describe("what was given back for a seal", () => {
  const roomy = { sealMaxBytes: 4 * MIB, sealReserveBytes: 3 * MIB };
  const append = (engine: DurableEngine, bytes: number): Promise<string> =>
    codeOf(engine.commit((batch) => batch.append("events", "filler", Buffer.alloc(bytes))));

  /** Uses up what the journal has room for; what found none keeps others from theirs until it's tried again. */
  async function exhaust(host: SimulatedHost, engine: DurableEngine): Promise<number> {
    for (const bytes of [30 * KIB, 500, 10]) {
      while ((await append(engine, bytes)) === "done");
      await host.advance(300);
    }
    return engine.heads.accepted;
  }

  test("is synced away before the write is done again, or the file system may not have it yet", async () => {
    const { host, engine } = await prepared(1);
    await leave(host, 0);
    const before = host.history.entries.at(-1)?.place ?? 0;
    await engine.seal();
    const steps = host.history.entries
      .filter(({ place, path }) => place > before && /space\.reserve|\.part$/.test(path))
      .map(({ operation, path }) => `${operation} ${path.replace(/.*\./, "")}`);
    expect(steps.slice(0, 6)).toEqual([
      "create part",
      "open reserve",
      "truncate reserve",
      "dataSync reserve",
      "close reserve",
      "create part",
    ]);
  });

  test("isn't taken by the journal, whoever waits to commit", async () => {
    const { host, engine } = await prepared(1, roomy);
    await leave(host, 0);
    const accepted = await exhaust(host, engine);
    const held = host.hold(["dataSync"], /\.part$/);
    const sealing = codeOf(engine.seal());
    for (let i = 0; i < 5; i++) {
      await host.advance(300);
      expect(await append(engine, 10)).toBe("NO_SPACE");
    }
    held.release();
    expect(await sealing).toBe("done");
    expect(engine.stats()).toMatchObject({ seal_failed: 0, unsealed_bytes: 0 });
    expect(engine.heads).toMatchObject({ accepted, sealed: accepted });
  });

  test("isn't taken back while the seal goes on", async () => {
    const { host, engine } = await prepared(1, roomy);
    await leave(host, 0);
    await engine.seal();
    await host.advance(3000);
    const { reserve_bytes: made } = engine.stats();
    expect(made).toBeGreaterThan(MIB);
    expect(made).toBeLessThan(roomy.sealReserveBytes);
    for (let i = 1; i <= 4; i++) await commit(engine, commits + i);
    const held = host.hold(["dataSync"], /\.part$/);
    const sealing = codeOf(engine.seal());
    await host.advance(3000);
    expect(engine.stats().reserve_bytes).toBe(0);
    held.release();
    expect(await sealing).toBe("done");
    expect(await checkAll(engine, "sealed twice")).toBe(commits + 4);
  });

  test("is no room for commits before it's whole again", async () => {
    const { host, engine } = await prepared(1, roomy);
    await leave(host, 0);
    const accepted = await exhaust(host, engine);
    await engine.seal();
    await leave(host, 300 * KIB);
    await host.advance(3000);
    expect(engine.stats().reserve_bytes).toBeGreaterThan(0);
    expect(engine.stats().reserve_bytes).toBeLessThan(roomy.sealReserveBytes);
    expect([await append(engine, 10), engine.state]).toEqual(["NO_SPACE", "no-space"]);
    await leave(host, 8 * MIB);
    await host.advance(3000);
    expect(engine.stats().reserve_bytes).toBe(roomy.sealReserveBytes);
    expect([await append(engine, 10), engine.state]).toEqual(["done", "open"]);
    expect(engine.heads.accepted).toBe(accepted + 1);
  });

  test("serves an edit of the manifest too", async () => {
    for (const operation of ["write", "dataSync"] as const) {
      const { host, engine } = await prepared(1);
      host.failNext(operation, "ENOSPC", /manifest-/);
      expect(await codeOf(engine.seal())).toBe("done");
      expect(engine.stats()).toMatchObject({ reserve_used: 1, seal_failed: 0, manifest_errors: 1 });
      await untilWhole(host, engine);
      expect(await checkAll(engine, operation)).toBe(commits);
    }
  });

  test("comes back from the journal when parts take less than it did, and commits go on by themselves", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openOn(host, {
      ...options,
      sealMaxBytes: MIB,
      sealReserveBytes: 3 * MIB,
      compression: "deflate",
    });
    await untilWhole(host, engine, 3 * MIB);
    const held = host.hold(["create"], /\.part$/);
    while (engine.stats().unsealed_generations < 4) expect(await append(engine, 100 * KIB)).toBe("done");
    await leave(host, 0);
    held.release();
    await host.advance(5000);
    expect(engine.stats()).toMatchObject({ unsealed_generations: 1, reserve_bytes: 3 * MIB });
    expect(engine.stats().reserve_used).toBeGreaterThan(0);
    expect(await append(engine, 100 * KIB)).toBe("done");
    await engine.close();
  });
});

describe("a reserve that is too small for a seal", () => {
  test("is given back once, and not made again before the seal has found room", async () => {
    const { host, engine } = await prepared(1, { sealReserveBytes: 64 * KIB, sealMaxBytes: MIB });
    for (let i = 1; i <= 30; i++) await commit(engine, commits + i);
    await leave(host, 0);
    const before = host.operations.preallocate;
    expect(await codeOf(engine.seal())).toBe("NO_SPACE");
    await host.advance(5000);
    expect(engine.stats()).toMatchObject({ reserve_bytes: 0, reserve_used: 0 });
    expect(engine.stats().seal_failed).toBeGreaterThan(10);
    expect(host.operations.preallocate - before).toBeLessThan(5);
    host.faults.noSpaceAfterBytes = Infinity;
    await untilWhole(host, engine, 64 * KIB);
    expect(engine.stats().unsealed_bytes).toBe(0);
    expect(await checkAll(engine, "at last")).toBe(commits + 30);
    expect(await large(engine)).toBe("done");
    await engine.close();
  });
});

describe("a reserve that was given back for what isn't tried again", () => {
  test("is made again, and commits go on, though nothing is sealed or written meanwhile", async () => {
    const { host, engine } = await prepared(1);
    await engine.seal();
    for (const operation of ["write", "create"] as const) host.failNext(operation, "ENOSPC", /manifest-/);
    expect(await codeOf(engine.raiseFloor("events", 5))).toBe("NO_SPACE");
    expect(engine.stats()).toMatchObject({ reserve_bytes: 0, reserve_used: 0 });
    await untilWhole(host, engine);
    expect(await large(engine)).toBe("done");
    await engine.close();
  });
});

describe("merges", () => {
  test("that had to wait for the reserve begin by themselves when it's whole again", async () => {
    const { host, engine } = await prepared(1, { background: true });
    for (let i = 1; i <= 3; i++) {
      await commit(engine, commits + i);
      await engine.seal();
    }
    await commit(engine, commits + 4);
    await leave(host, 0);
    await engine.seal();
    await host.advance(3000);
    expect(engine.stats()).toMatchObject({ reserve_used: 1, merges: 0 });
    host.faults.noSpaceAfterBytes = Infinity;
    await host.advance(1500);
    expect(engine.stats().merges).toBe(2);
    await engine.close();
  });

  test("never use the reserve, and wait while it isn't whole", async () => {
    const { host, engine } = await prepared(1);
    await engine.seal();
    await commit(engine, commits + 1);
    await engine.seal();
    await leave(host, 0);
    expect(await codeOf(engine.merge())).toBe("NO_SPACE");
    expect(engine.stats()).toMatchObject({ reserve_bytes: reserved, reserve_used: 0, merges: 0 });
    await commit(engine, commits + 2);
    await engine.seal();
    expect(engine.stats().reserve_used).toBeGreaterThan(0);
    // Enough for a merge, and not for the reserve.
    await leave(host, 64 * KIB);
    await host.advance(1000);
    expect(await codeOf(engine.merge())).toBe("NO_SPACE");
    host.faults.noSpaceAfterBytes = Infinity;
    await untilWhole(host, engine);
    expect(await codeOf(engine.merge())).toBe("done");
  });
});

describe("imports", () => {
  test("never use the reserve, and are refused while it isn't whole", async () => {
    const { host, engine } = await prepared(1);
    const records = [1, 2, 3].map((sort) => ({ sort, key: "a", version: sort, time: 1, payload: payloadOf(sort) }));
    const bring = (): Promise<string> => codeOf(engine.import("more", [records]));
    await leave(host, 0);
    expect(await bring()).toBe("NO_SPACE");
    expect(engine.stats()).toMatchObject({ reserve_bytes: reserved, reserve_used: 0 });
    await engine.seal();
    expect(engine.stats().reserve_used).toBeGreaterThan(0);
    await leave(host, 64 * KIB);
    await host.advance(1000);
    expect(await bring()).toBe("NO_SPACE");
    host.faults.noSpaceAfterBytes = Infinity;
    await untilWhole(host, engine);
    expect(await bring()).toBe("done");
    await engine.close();
  });
});

describe("the file of the reserve", () => {
  test("is made as large as asked for, whatever an earlier open left, and isn't there when none is wanted", async () => {
    const { host, engine } = await prepared(1);
    await engine.close();
    for (const sealReserveBytes of [2 * MIB, 100 * KIB, 0]) {
      const again = await openOn(host, { ...options, sealReserveBytes });
      await untilWhole(host, again, sealReserveBytes);
      const stat = await host.files.stat("/store/space.reserve");
      expect(stat?.bytes).toBe(sealReserveBytes === 0 ? undefined : sealReserveBytes);
      await again.close();
    }
  });

  test("that a kill or a crash cut off is made whole from what is there", async () => {
    for (const how of ["kill", "crash"] as const) {
      const host = simulatedHost({ seed: 1 });
      const engine = await openOn(host, { ...options, sealReserveBytes: 4 * MIB });
      await host.advance(500);
      const { reserve_bytes: made } = engine.stats();
      expect(made).toBeGreaterThan(MIB);
      expect(made).toBeLessThan(4 * MIB);
      const next = host[how]();
      const left = (await next.files.stat("/store/space.reserve"))?.bytes ?? 0;
      expect(left).toBeLessThanOrEqual(made);
      const again = await openOn(next, { ...options, sealReserveBytes: 4 * MIB });
      expect(again.stats().reserve_bytes).toBe(left);
      await untilWhole(next, again, 4 * MIB);
      await again.close();
    }
  });

  test("is made beside seals too, however they follow each other", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openOn(host, options);
    await commit(engine, 1);
    const held = host.hold(["dataSync"], /\.part$/);
    const sealing = engine.seal();
    await untilWhole(host, engine);
    held.release();
    await sealing;
    await engine.close();
  });

  test("is made slowly while nobody needs it, and there from the first moment on", async () => {
    const host = simulatedHost({ seed: 1 });
    const engine = await openOn(host, { ...options, sealReserveBytes: 17 * MIB });
    const names = await host.files.list("/store");
    expect(names).toContain("space.reserve");
    await host.advance(1000);
    expect(engine.stats().reserve_bytes).toBeGreaterThan(4 * MIB);
    expect(engine.stats().reserve_bytes).toBeLessThan(6 * MIB);
    await host.advance(3000);
    expect(engine.stats().reserve_bytes).toBe(17 * MIB);
    expect(await host.files.list("/store")).toEqual(names);
    await engine.close();
  });

  test("whose sync failed is written again, and not only synced again", async () => {
    for (const code of ["ENOSPC", "EIO"] as const) {
      const host = simulatedHost({ seed: 1 });
      host.failNext("dataSync", code, /space\.reserve/);
      const engine = await openOn(host, { ...options, reserveBytes: 0 });
      await untilWhole(host, engine);
      const written = host.history.entries.filter(
        ({ operation, path }) => operation === "preallocate" && path === "/store/space.reserve",
      );
      expect(written.map(({ position }) => position)).toEqual([0, 256 * KIB, 0, 256 * KIB]);
      await engine.close();
    }
  });

  test("that can't be made for another reason than space stops nobody, and is made later", async () => {
    const host = simulatedHost({ seed: 1 });
    host.failNext("preallocate", "EIO", /space\.reserve/);
    const engine = await openOn(host, { ...options, reserveBytes: 0 });
    await commit(engine, 1);
    expect(await large(engine)).toBe("done");
    await untilWhole(host, engine);
    await engine.close();
  });
});
