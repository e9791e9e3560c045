import { type Faults, type OperationKind, simulatedHost, type SimulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { bytesOf, codeFrom, createText, textOf } from "./text.ts";

const PAGE = 4096;

async function hostWithFile(faults: Partial<Faults> = {}, seed = 1): Promise<SimulatedHost> {
  const host = simulatedHost({ seed, faults });
  await createText(host, "/a", "synced", { content: true, name: true });
  return host;
}

test("a failed sync marks pages clean: cached, skipped by later syncs, and gone after some crashes", async () => {
  let gone = 0;
  let there = 0;
  for (let seed = 0; seed < 50; seed++) {
    const host = await hostWithFile({}, seed);
    const file = await host.files.open("/a", "write");
    await file.write(bytesOf("SECOND"), 0);
    host.failNext("dataSync");
    expect(await codeFrom(() => file.dataSync())).toBe("EIO");
    expect(await codeFrom(() => file.dataSync())).toBe("resolved");
    expect(textOf(host.content("/a"))).toBe("SECOND");
    expect(textOf(host.durableContent("/a"))).toBe("synced");
    const found = textOf(host.crash().content("/a"));
    expect(["synced", "SECOND"]).toContain(found);
    if (found === "synced") gone++;
    else there++;
    expect(host.statistics.failedSyncs).toBe(1);
  }
  expect(gone).toBeGreaterThan(5);
  expect(there).toBeGreaterThan(5);
});

test("a page that is written again after a failed sync is dirty as a whole", async () => {
  const host = await hostWithFile();
  const file = await host.files.open("/a", "write");
  await file.write(bytesOf("SECOND"), 0);
  host.failNext("dataSync");
  await codeFrom(() => file.dataSync());
  await file.write(bytesOf("!"), 5);
  await file.dataSync();
  expect(textOf(host.durableContent("/a"))).toBe("SECON!");
});

test("a failed sync leaves dirty what was written after its issue, and the size as it was", async () => {
  const host = await hostWithFile();
  const file = await host.files.open("/a", "write");
  await file.write(bytesOf("SECOND"), 0);
  await file.write(bytesOf("beyond"), 2 * PAGE);
  host.failNext("dataSync");
  const hold = host.hold(["dataSync"]);
  const failed = codeFrom(() => file.dataSync());
  await file.write(bytesOf("!"), 5);
  hold.release();
  expect(await failed).toBe("EIO");
  await file.dataSync();
  expect(textOf(host.durableContent("/a"))).toBe("SECON!");
});

test("a failed sync of a directory is as final", async () => {
  let gone = 0;
  for (let seed = 0; seed < 50; seed++) {
    const host = await hostWithFile({}, seed);
    await createText(host, "/b", "b");
    host.failNext("syncDirectory");
    expect(await codeFrom(() => host.files.syncDirectory("/"))).toBe("EIO");
    await host.files.syncDirectory("/");
    expect(await codeFrom(() => host.durableContent("/b"))).toBe("ENOENT");
    if (!(await host.crash().files.list("/")).includes("b")) gone++;
  }
  expect(gone).toBeGreaterThan(5);
  expect(gone).toBeLessThan(50);
});

test("syncError fails syncs by chance, the blocking one too", async () => {
  const host = await hostWithFile();
  host.faults.syncError = 1;
  const file = await host.files.open("/a", "write");
  expect(await codeFrom(() => file.dataSync())).toBe("EIO");
  expect(await codeFrom(() => file.dataSyncBlocking())).toBe("EIO");
  expect(await codeFrom(() => host.files.syncDirectory("/"))).toBe("EIO");
  expect(host.statistics.failedSyncs).toBe(3);
});

test("a lying sync resolves, and a later honest one makes it durable", async () => {
  const host = await hostWithFile({}, 3);
  const file = await host.files.open("/a", "write");
  await file.write(bytesOf("SECOND"), 0);
  host.faults.lyingSync = 1;
  await file.dataSync();
  await host.files.syncDirectory("/");
  expect(host.statistics.lyingSyncs).toBe(2);
  expect(textOf(host.durableContent("/a"))).toBe("synced");
  host.faults.lyingSync = 0;
  await file.dataSync();
  expect(textOf(host.durableContent("/a"))).toBe("SECOND");
});

test("writeError fails every way to write, perhaps after a part of the bytes", async () => {
  const parts = new Set<number>();
  for (let seed = 0; seed < 40; seed++) {
    const host = await hostWithFile({}, seed);
    host.faults.writeError = 1;
    const file = await host.files.open("/a", "write");
    expect(await codeFrom(() => file.write(bytesOf("SECOND"), 0))).toBe("EIO");
    parts.add(Array.from(textOf(host.content("/a"))).filter((letter) => letter < "a").length);
    expect(await codeFrom(() => file.writeAtSync(bytesOf("x"), 0))).toBe("EIO");
    expect(await codeFrom(() => file.preallocate(0, PAGE))).toBe("EIO");
    expect(host.statistics.failedWrites).toBe(3);
  }
  expect([...parts].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("readError fails reads", async () => {
  const host = await hostWithFile({ readError: 1 });
  const file = await host.files.open("/a", "read");
  expect(await codeFrom(() => file.read(new Uint8Array(3), 0))).toBe("EIO");
  expect(host.statistics.failedReads).toBe(1);
});

test("a short write still ends whole, and a crash can fall between its parts", async () => {
  let between = 0;
  for (let seed = 0; seed < 40; seed++) {
    const host = await hostWithFile({ shortWrite: 0.9 }, seed);
    const file = await host.files.open("/a", "write");
    await file.write(bytesOf("SECOND"), 0);
    expect(textOf(host.content("/a"))).toBe("SECOND");
    file.writeAtSync(bytesOf("THIRD!"), 0);
    expect(textOf(host.content("/a"))).toBe("THIRD!");
    expect(host.statistics.shortWrites).toBeGreaterThan(0);
    void file.write(bytesOf("FOURTH"), 0);
    await host.clock.yield();
    const found = textOf(host.crash("everything").content("/a"));
    if (found !== "THIRD!" && found !== "FOURTH") between++;
  }
  expect(between).toBeGreaterThan(0);
});

test("a full disk fails with ENOSPC, counts pages, and takes writes again when something is removed", async () => {
  const host = await hostWithFile();
  host.faults.noSpaceAfterBytes = 10 * PAGE;
  // The root, the file and its one page are taken.
  expect(await host.files.freeBytes("/")).toBe(7 * PAGE);
  const file = await host.files.open("/a", "write");
  await file.preallocate(0, 4 * PAGE);
  expect(await host.files.freeBytes("/")).toBe(4 * PAGE);
  await createText(host, "/b", "b");
  expect(await host.files.freeBytes("/")).toBe(2 * PAGE);
  expect(await codeFrom(() => file.preallocate(4 * PAGE, 3 * PAGE))).toBe("ENOSPC");
  await file.truncate(4 * PAGE);
  expect(await codeFrom(() => file.writeAtSync(new Uint8Array(3 * PAGE), 4 * PAGE))).toBe("ENOSPC");
  await file.truncate(4 * PAGE);
  // Inside of what is preallocated there is always space.
  file.writeAtSync(new Uint8Array(4 * PAGE).fill(1), 0);
  await file.write(new Uint8Array(2 * PAGE), 4 * PAGE);
  expect(await codeFrom(() => host.files.open("/c", "create"))).toBe("ENOSPC");
  expect(await codeFrom(() => host.files.makeDirectory("/d"))).toBe("ENOSPC");
  expect(host.statistics.noSpace).toBe(4);
  await host.files.remove("/b");
  await createText(host, "/c", "c");
  await file.truncate(0);
  expect(await host.files.freeBytes("/")).toBe(6 * PAGE);
});

test("a write that meets the end of the disk leaves its first pages, or none", async () => {
  const left = new Set<number>();
  for (let seed = 0; seed < 20; seed++) {
    const host = await hostWithFile({}, seed);
    host.faults.noSpaceAfterBytes = 5 * PAGE;
    const file = await host.files.open("/a", "write");
    expect(await codeFrom(() => file.write(new Uint8Array(6 * PAGE), 0))).toBe("ENOSPC");
    left.add(await file.size());
  }
  expect([...left].sort((a, b) => a - b)).toEqual([6, 3 * PAGE]);
});

test("a write told to meet a full disk leaves whole pages too", async () => {
  const left = new Set<number>();
  for (let seed = 0; seed < 40; seed++) {
    const host = await hostWithFile({}, seed);
    const file = await host.files.open("/a", "write");
    host.failNext("write", "ENOSPC");
    expect(await codeFrom(() => file.write(new Uint8Array(3 * PAGE), 100))).toBe("ENOSPC");
    left.add(await file.size());
  }
  expect([...left].sort((a, b) => a - b)).toEqual([6, PAGE, 2 * PAGE]);
});

test("the account of space is the same as a count of what is there", async () => {
  for (let seed = 0; seed < 100; seed++) {
    const host = simulatedHost({ seed, faults: { noSpaceAfterBytes: 60 * PAGE, writeError: 0.05 } });
    const { files, random } = host;
    const any = (): string => ["/a", "/b", "/d", "/d/a", "/d/b", "/e/a"][random.integer(6)] ?? "/";
    const steps: (() => Promise<unknown>)[] = [
      () => files.makeDirectory(random.integer(2) === 0 ? "/d" : "/e"),
      () => files.removeDirectory(any()),
      () => files.remove(any()),
      () => files.link(any(), any()),
      () => files.rename(any(), any()),
      async () => {
        const file = await files.open(any(), "create");
        await file.write(new Uint8Array(random.integer(9 * PAGE)), 0).catch(() => undefined);
        await file.close();
      },
      async () => {
        const file = await files.open(any(), "write");
        const removed = files.remove(file.path).catch(() => undefined);
        await file.preallocate(random.integer(9 * PAGE), random.integer(9 * PAGE)).catch(() => undefined);
        await file.truncate(random.integer(9 * PAGE));
        await removed;
        await file.close();
      },
    ];
    for (let step = 0; step < 60; step++) await steps[random.integer(steps.length)]?.().catch(() => undefined);
    const free = await files.freeBytes("/");
    expect(await host.kill().files.freeBytes("/")).toBe(free);
  }
});

test("an open file keeps its space when its last name goes", async () => {
  const host = await hostWithFile({ noSpaceAfterBytes: 10 * PAGE });
  const file = await host.files.open("/a", "write");
  const second = await host.files.open("/a", "read");
  await host.files.remove("/a");
  await second.close();
  expect(await host.files.freeBytes("/")).toBe(7 * PAGE);
  await file.preallocate(0, 3 * PAGE);
  expect(await host.files.freeBytes("/")).toBe(5 * PAGE);
  await file.close();
  expect(await host.files.freeBytes("/")).toBe(9 * PAGE);
});

test("space is counted anew after a crash and after a kill", async () => {
  const host = await hostWithFile({ noSpaceAfterBytes: 20 * PAGE });
  const file = await host.files.open("/a", "write");
  await host.files.remove("/a");
  await file.preallocate(0, 3 * PAGE);
  const killed = host.kill();
  expect(await killed.files.freeBytes("/")).toBe(19 * PAGE);
  const next = killed.crash("nothing");
  expect(await next.files.freeBytes("/")).toBe(17 * PAGE);
});

test("failNext fails one operation of its kind, on its path, with its code", async () => {
  const kinds: [OperationKind, (host: SimulatedHost) => Promise<unknown>][] = [
    ["open", (host) => host.files.open("/a", "read")],
    ["create", (host) => host.files.open("/new", "create")],
    ["rename", (host) => host.files.rename("/a", "/b")],
    ["link", (host) => host.files.link("/a", "/b")],
    ["remove", (host) => host.files.remove("/a")],
    ["list", (host) => host.files.list("/")],
    ["stat", (host) => host.files.stat("/a")],
    ["makeDirectory", (host) => host.files.makeDirectory("/d")],
    ["lock", (host) => host.files.lock("/a")],
    ["freeBytes", (host) => host.files.freeBytes("/")],
  ];
  for (const [kind, call] of kinds) {
    const host = await hostWithFile();
    host.failNext(kind, "EDQUOT");
    expect([kind, await codeFrom(() => call(host))]).toEqual([kind, "EDQUOT"]);
    expect(host.statistics.noSpace).toBe(1);
    expect([kind, await codeFrom(() => call(host))]).toEqual([kind, "resolved"]);
  }
  const host = await hostWithFile();
  const file = await host.files.open("/a", "write");
  host.failNext("truncate");
  host.failNext("size");
  host.failNext("write", "ENOSPC", /elsewhere/);
  expect(await codeFrom(() => file.truncate(0))).toBe("EIO");
  expect(await codeFrom(() => file.size())).toBe("EIO");
  expect(await codeFrom(() => file.write(bytesOf("x"), 0))).toBe("resolved");
  host.failNext("close");
  expect(await codeFrom(() => file.close())).toBe("EIO");
});

test("errors look like Node's", async () => {
  const host = await hostWithFile();
  host.failNext("dataSync");
  const file = await host.files.open("/a", "write");
  const error = await file.dataSync().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "EIO", errno: -5, syscall: "fdatasync", path: "/a" });
  expect(String(error)).toBe("Error: EIO: i/o error, fdatasync '/a'");
});

test("slow operations are overtaken", async () => {
  const overtaken = new Set<boolean>();
  for (let seed = 0; seed < 20; seed++) {
    const host = await hostWithFile({ slow: 0.5 }, seed);
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4].map((place) => host.files.list("/").then(() => order.push(place))));
    expect([...order].sort()).toEqual([1, 2, 3, 4]);
    overtaken.add(order.join() !== "1,2,3,4");
    expect(host.statistics.slowOperations).toBeGreaterThan(0);
  }
  expect(overtaken.has(true)).toBe(true);
});

test("a flipped bit is on disk and in the cache, and neither a sync nor a crash mends it", async () => {
  const host = await hostWithFile();
  const file = await host.files.open("/a", "write");
  await file.write(bytesOf("n"), 2);
  host.flipBit("/a", 0, 5);
  host.flipBit("/a", 2, 5);
  expect(textOf(host.content("/a"))).toBe("SyNced");
  expect(textOf(host.durableContent("/a"))).toBe("SyNced");
  await file.dataSync();
  expect(textOf(host.crash().content("/a"))).toBe("SyNced");
  expect(host.statistics.flippedBits).toBe(2);
  expect(await codeFrom(() => host.flipBit("/a", 6, 0))).toBe("OUT_OF_RANGE");
  expect(await codeFrom(() => host.flipBit("/a", 0, 8))).toBe("OUT_OF_RANGE");
});

test("a crash counts what it tore and lost", async () => {
  const host = simulatedHost({ seed: 5 });
  const file = await host.files.open("/a", "create");
  await host.files.syncDirectory("/");
  await file.write(new Uint8Array(64 * 512).fill(1), 0);
  const torn = host.crash("sectors");
  expect(torn.statistics).toMatchObject({ crashes: 1, tornWrites: 1, lostUnsyncedWrites: 0 });
  expect(torn.statistics.tornSectors).toBeGreaterThan(0);
  expect(torn.statistics.tornSectors).toBeLessThan(64);

  await (await torn.files.open("/a", "write")).write(bytesOf("x"), 0);
  await createText(torn, "/b", "");
  const held = torn.hold(["remove"]);
  void torn.files.remove("/a");
  await torn.settle();
  const lost = torn.crash("nothing");
  held.release();
  expect(lost.statistics).toMatchObject({
    crashes: 2,
    lostUnsyncedWrites: 1,
    lostDirectoryOperations: 1,
    droppedOperations: 1,
  });
  lost.kill();
  expect(lost.statistics.kills).toBe(1);
  const counted = Object.values(lost.operations).reduce((sum, count) => sum + count, 0);
  expect(lost.statistics.operations).toBe(counted);
});
