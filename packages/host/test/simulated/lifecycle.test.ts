import { isEhdbError } from "@ehdb/contracts";
import { type Job, type OperationKind, simulatedHost, type SimulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { bytesOf, codeFrom, createText, textAt, textOf } from "./text.ts";

/** Whether a promise has settled once everything queued is done. */
async function settles(host: SimulatedHost, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => void (settled = true);
  promise.then(note, note);
  await host.settle();
  await Promise.resolve();
  return settled;
}

test("crashAfter freezes once so many more operations have completed", async () => {
  const host = simulatedHost({ seed: 1 });
  await createText(host, "/a", "a");
  const before = host.statistics.operations;
  host.crashAfter(3);
  const heard: string[] = [];
  for (const name of ["b", "c", "d", "e"]) void host.files.link("/a", `/${name}`).then(() => heard.push(name));
  await host.whenFrozen();
  expect(host.frozen).toBe(true);
  expect(host.statistics.operations).toBe(before + 3);
  // Nobody hears of the last one.
  expect(heard.length).toBe(2);
  const next = host.crash("everything");
  expect(next.frozen).toBe(false);
  expect((await next.files.list("/")).length).toBeGreaterThanOrEqual(4);
});

test("crashAfter(0) freezes at once", async () => {
  const host = simulatedHost({ seed: 1 });
  host.crashAfter(0);
  await host.whenFrozen();
  expect(host.frozen).toBe(true);
});

test("a crash point before an operation leaves nothing of it, one after it all of it", async () => {
  for (const when of ["before", "after"] as const) {
    const host = simulatedHost({ seed: 1 });
    await createText(host, "/a", "old", { content: true, name: true });
    await createText(host, "/b", "new", { content: true, name: true });
    host.crashAt({ operation: "rename", when });
    const renamed = host.files.rename("/b", "/a");
    await host.whenFrozen();
    expect(await settles(host, renamed)).toBe(false);
    expect(await textAt(host.crash("everything"), "/a")).toBe(when === "before" ? "old" : "new");
  }
});

test("a crash point counts to its nth operation on its path", async () => {
  const host = simulatedHost({ seed: 1 });
  await createText(host, "/a", "");
  await createText(host, "/b", "");
  const a = await host.files.open("/a", "write");
  const b = await host.files.open("/b", "write");
  host.crashAt({ operation: "write", nth: 2, path: /b$/, when: "after" });
  for (let byte = 0; byte < 3; byte++) await a.write(bytesOf("a"), byte);
  await b.write(bytesOf("b"), 0);
  expect(host.frozen).toBe(false);
  void b.write(bytesOf("b"), 1);
  await host.whenFrozen();
  expect(textOf(host.content("/b"))).toBe("bb");
});

test("crash points stop synchronous calls as well, with an error that no disk has", async () => {
  for (const when of ["before", "after"] as const) {
    const host = simulatedHost({ seed: 1 });
    const file = await host.files.open("/a", "create");
    host.crashAt({ operation: "writeAtSync", when });
    const write = (): void => file.writeAtSync(bytesOf("x"), 0);
    expect(await codeFrom(write)).toBe("UNEXPECTED");
    expect(host.frozen).toBe(true);
    expect(textOf(host.content("/a"))).toBe(when === "before" ? "" : "x");
    expect(await codeFrom(write)).toBe("UNEXPECTED");
    expect(await codeFrom(() => file.dataSyncBlocking())).toBe("UNEXPECTED");
  }
});

test("nothing of a dead process goes on", async () => {
  const host = simulatedHost({ seed: 1 });
  const file = await host.files.open("/a", "create");
  let woke = 0;
  host.clock.timer(5, () => woke++);
  host.clock.defer(() => woke++);
  const pending: Promise<unknown>[] = [file.write(bytesOf("x"), 0), host.clock.yield(), host.files.lock("/lock")];
  const next = host.crash("nothing");
  pending.push(file.size(), file.close(), host.files.list("/"), host.clock.yield(), host.workers.close());
  await Promise.all([host.advance(10), host.settle(), host.whenFrozen()]);
  await next.advance(10);
  for (const promise of pending) expect(await settles(next, promise)).toBe(false);
  expect(woke).toBe(0);
});

test("an incarnation has one successor", async () => {
  const host = simulatedHost({ seed: 1 });
  host.crash();
  expect(await codeFrom(() => host.crash())).toBe("CLOSED");
  expect(await codeFrom(() => host.kill())).toBe("CLOSED");
});

test("a kill keeps the page cache, and what it keeps is still not durable", async () => {
  const host = simulatedHost({ seed: 1 });
  await createText(host, "/a", "text");
  const killed = host.kill();
  expect(await textAt(killed, "/a")).toBe("text");
  expect(await codeFrom(() => killed.durableContent("/a"))).toBe("ENOENT");
  const file = await killed.files.open("/a", "write");
  await killed.files.syncDirectory("/");
  expect(textOf(killed.durableContent("/a"))).toBe("");
  await file.dataSync();
  expect(textOf(killed.kill().crash().content("/a"))).toBe("text");
});

test("a file that lost its name before a kill comes back whole when a crash undoes the removal", async () => {
  const host = simulatedHost({ seed: 1 });
  await createText(host, "/a", "text", { content: true, name: true });
  await host.files.remove("/a");
  const killed = host.kill();
  expect(await killed.files.list("/")).toEqual([]);
  const next = killed.crash("nothing");
  expect(await textAt(next, "/a")).toBe("text");
  await next.files.remove("/a");
  expect(await next.files.list("/")).toEqual([]);
});

test("a locked byte is another open file's no more until it's closed, or the process gone", async () => {
  const host = simulatedHost({ seed: 1 });
  await createText(host, "/a", "a");
  const [first, second] = [await host.files.open("/a", "write"), await host.files.open("/a", "write")];
  expect([first.tryLockByte(9), second.tryLockByte(9), second.tryLockByte(10), first.tryLockByte(9)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  await first.close();
  expect(second.tryLockByte(9)).toBe(true);
  expect(await codeFrom(() => first.tryLockByte(9))).toBe("EBADF");
  const reader = await host.files.open("/a", "read");
  expect(await codeFrom(() => reader.tryLockByte(9))).toBe("EBADF");
  const next = host.crash("everything");
  expect((await next.files.open("/a", "write")).tryLockByte(10)).toBe(true);
});

test("a lock keeps out a second one in the same process, until its release", async () => {
  const host = simulatedHost({ seed: 1 });
  const lock = await host.files.lock("/lock");
  expect(await host.files.list("/")).toEqual(["lock"]);
  const second = await host.files.lock("/lock").catch((error: unknown) => error);
  expect(isEhdbError(second, "LOCKED")).toBe(true);
  // By another name it's the same file.
  await host.files.link("/lock", "/other");
  expect(await codeFrom(() => host.files.lock("/other"))).toBe("LOCKED");
  await lock.release();
  await lock.release();
  const again = await host.files.lock("/other");
  expect(await codeFrom(() => host.files.lock("/lock"))).toBe("LOCKED");
  await lock.release();
  expect(await codeFrom(() => host.files.lock("/lock"))).toBe("LOCKED");
  await again.release();
  expect(await codeFrom(() => host.files.lock("/missing/lock"))).toBe("ENOENT");
});

test("locks die with their process", async () => {
  for (const how of ["kill", "crash"] as const) {
    const host = simulatedHost({ seed: 1 });
    await host.files.lock("/lock");
    const next = host[how]();
    await next.files.lock("/lock");
    expect(await codeFrom(() => next.files.lock("/lock"))).toBe("LOCKED");
  }
});

test("held operations wait for their release, others don't", async () => {
  const host = simulatedHost({ seed: 1 });
  const file = await host.files.open("/a", "create");
  const all = host.hold(["dataSync"]);
  const elsewhere = host.hold(["write"], /elsewhere/);
  const synced = file.dataSync();
  await file.write(bytesOf("x"), 0);
  expect(await settles(host, synced)).toBe(false);
  all.release();
  all.release();
  await synced;
  elsewhere.release();
});

test("a hold catches what was queued before it", async () => {
  const host = simulatedHost({ seed: 1 });
  const listed = host.files.list("/");
  const hold = host.hold(["list"]);
  expect(await settles(host, listed)).toBe(false);
  hold.release();
  expect(await settles(host, listed)).toBe(true);
});

test("held operations are dropped by a crash that keeps nothing, and may happen in others", async () => {
  const found = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const host = simulatedHost({ seed });
    const file = await host.files.open("/a", "create");
    await host.files.syncDirectory("/");
    await file.write(bytesOf("x"), 0);
    host.hold(["dataSync"]);
    void file.dataSync();
    await host.settle();
    found.add(textOf(host.kill().durableContent("/a")));
  }
  expect([...found].sort()).toEqual(["", "x"]);
});

test("a job that was queued when its process died never runs", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const host = simulatedHost({ seed });
    let ran = 0;
    void host.workers.run({ name: "count", module: import.meta.url, run: () => ++ran }, undefined);
    await host.kill().advance(1);
    expect(ran).toBe(0);
  }
});

const writing: Job<string, string> = {
  name: "writing",
  module: import.meta.url,
  usesFiles: true,
  run: async (path, files) => {
    const file = await files.open(path, "create");
    for (let i = 0; i < 5; i++) await file.write(bytesOf("x"), i);
    await file.dataSync();
    await file.close();
    return path;
  },
};

test("a job that uses files is cut off by the end of its process anywhere within", async () => {
  const lengths = new Set<number>();
  for (let operations = 1; operations < 12; operations++) {
    const host = simulatedHost({ seed: 1 });
    host.crashAfter(operations);
    let isDone = false;
    void host.workers.run(writing, "/a").then(() => (isDone = true));
    await host.settle();
    const next = host.kill();
    const written = await next.files.stat("/a");
    lengths.add(written?.bytes ?? -1);
    expect(isDone).toBe(operations > 9);
  }
  expect([...lengths].sort((a, b) => a - b)).toEqual([-1, 0, 1, 2, 3, 4, 5]);
});

test("others go on while a job uses files, and its errors are theirs", async () => {
  const host = simulatedHost({ seed: 1 });
  const held = host.hold(["write"], /a/);
  const running = host.workers.run(writing, "/a");
  await host.settle();
  await host.files.makeDirectory("/b");
  host.failNext("dataSync", "EIO", /a/);
  held.release();
  await expect(running).rejects.toMatchObject({ code: "EIO" });
});

test("everything that waits runs before the next operation takes place", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const host = simulatedHost({ seed });
    const events: string[] = [];
    const chain = async (name: string): Promise<void> => {
      await host.files.list("/");
      events.push(name);
      for (let link = 0; link < 50; link++) await Promise.resolve();
      events.push(name);
    };
    await Promise.all(["a", "b", "c"].map(chain));
    expect([events[0], events[2], events[4]]).toEqual([events[1], events[3], events[5]]);
  }
});

const PROGRAM: readonly OperationKind[] = ["write", "dataSync", "rename", "syncDirectory", "remove", "list", "read"];

/** A program of many parallel operations, with every fault, crashes and a kill. */
async function history(seed: number): Promise<{ digest: string; entries: number; statistics: object; left: string }> {
  const faults = { writeError: 0.02, syncError: 0.02, readError: 0.02, shortWrite: 0.2, lyingSync: 0.05, slow: 0.1 };
  let host = simulatedHost({ seed, faults, keepHistory: 50 });
  for (let life = 0; life < 4; life++) {
    const { files, clock, random } = host;
    if (life === 3) host.crashAt({ operation: "write", nth: 20, when: "after" });
    await Promise.race([host.whenFrozen(), files.makeDirectory("/d").catch(() => undefined)]);
    const work = Array.from({ length: 30 }, async () => {
      const path = `/d/${random.id()}`;
      const file = await files.open(path, "create");
      await file.write(random.bytes(1 + random.integer(9000)), 0);
      clock.defer(() => void file.size());
      await file.dataSync();
      await file.read(new Uint8Array(100), 50);
      if (random.integer(2) === 1) await files.rename(path, "/d/current");
      else await files.remove(path);
      await files.syncDirectory("/d");
      await files.list("/d");
    });
    const all = Promise.allSettled(work);
    if (life % 2 === 0) for (let turn = 0; turn < 100; turn++) await Promise.race([host.whenFrozen(), clock.yield()]);
    else await Promise.race([host.whenFrozen(), all]);
    host = life === 1 ? host.kill() : host.crash();
  }
  for (const kind of PROGRAM) expect(host.operations[kind]).toBeGreaterThan(0);
  const left = (await host.files.list("/d").catch(() => [])).join();
  const { digest, entries } = host.history;
  return { digest, entries: entries.length, statistics: { ...host.statistics }, left };
}

test("one seed gives one history, another seed another", async () => {
  const digests = new Set<string>();
  for (let seed = 0; seed < 10; seed++) {
    const first = await history(seed);
    expect(await history(seed)).toEqual(first);
    expect(first.entries).toBe(50);
    digests.add(first.digest);
  }
  expect(digests.size).toBe(10);
});

test("the history says what happened", async () => {
  const host = simulatedHost({ seed: 1, keepHistory: 3 });
  const file = await host.files.open("/a", "create");
  await file.write(bytesOf("text"), 7);
  host.failNext("dataSync");
  await codeFrom(() => file.dataSync());
  await codeFrom(() => host.files.rename("/x", "y"));
  const next = host.crash();
  const nothing = { position: 0, bytes: 0 };
  expect(next.history.entries).toEqual([
    { place: 3, operation: "dataSync", path: "/a", ...nothing, outcome: "EIO" },
    { place: 4, operation: "rename", path: "/x -> /y", ...nothing, outcome: "ENOENT" },
    { place: 5, operation: "crash", path: "", ...nothing, outcome: "ok" },
  ]);
  expect(next.history.digest).toMatch(/^[0-9a-f]{16}$/);
});

test("the digest sees the bytes that were written", async () => {
  const digestOf = async (text: string): Promise<string> => {
    const host = simulatedHost({ seed: 1 });
    await createText(host, "/a", text);
    return host.history.digest;
  };
  expect(await digestOf("one")).not.toBe(await digestOf("two"));
});

test("a seed must be a number", async () => {
  expect(await codeFrom(() => simulatedHost({ seed: Number.NaN }))).toBe("INVALID_OPTION");
});

test("a directory whose name couldn't be synced, or whose maker died before, survives once it has been made again", async () => {
  for (const trouble of ["failed sync", "kill", "kill, then failed sync", "kill, then failed sync of one below"]) {
    let host = simulatedHost({ seed: 1 });
    if (trouble === "failed sync") {
      host.failNext("syncDirectory");
      await expect(host.files.makeDirectory("/a/b")).rejects.toMatchObject({ code: "EIO" });
    } else {
      host.crashAt({ operation: "syncDirectory" });
      await Promise.race([host.files.makeDirectory("/a"), host.whenFrozen()]);
      host = host.kill();
    }
    if (trouble.startsWith("kill, then")) {
      host.failNext("syncDirectory");
      const path = trouble.endsWith("below") ? "/a/b" : "/a";
      await expect(host.files.makeDirectory(path)).rejects.toMatchObject({ code: "EIO" });
    }
    await host.files.makeDirectory("/a/b");
    host = host.crash("nothing");
    expect(await host.files.stat("/a/b"), trouble).toMatchObject({ kind: "directory" });
  }
});
