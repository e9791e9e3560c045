import { simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { bytesOf, codeFrom, createText, textAt, textOf } from "./text.ts";

test("files are opened as their mode says", async () => {
  const host = simulatedHost({ seed: 1 });
  await createText(host, "/a", "text");
  expect(await codeFrom(() => host.files.open("/a", "create"))).toBe("EEXIST");
  expect(await codeFrom(() => host.files.open("/b", "read"))).toBe("ENOENT");
  expect(await codeFrom(() => host.files.open("/b", "write"))).toBe("ENOENT");
  expect(await codeFrom(() => host.files.open("/b/c", "create"))).toBe("ENOENT");
  expect(await codeFrom(() => host.files.open("/a/c", "create"))).toBe("ENOTDIR");
  expect(await codeFrom(() => host.files.open("/", "read"))).toBe("EISDIR");
  const reader = await host.files.open("/a", "read");
  expect(await codeFrom(() => reader.write(bytesOf("x"), 0))).toBe("EBADF");
  expect(await codeFrom(() => reader.writeAtSync(bytesOf("x"), 0))).toBe("EBADF");
  expect(await codeFrom(() => reader.truncate(0))).toBe("EBADF");
  const writer = await host.files.open("/a", "write");
  expect(await codeFrom(() => writer.write(bytesOf("x"), -1))).toBe("EINVAL");
  expect(await codeFrom(() => writer.truncate(1.5))).toBe("EINVAL");
});

test("reads are short only at the end; holes and what a truncation cut are zeros", async () => {
  const host = simulatedHost({ seed: 1 });
  const file = await host.files.open("/a", "create");
  await file.write(bytesOf("abc"), 4094);
  const into = new Uint8Array(6).fill(9);
  expect(await file.read(into, 4092)).toBe(5);
  expect([...into]).toEqual([0, 0, 97, 98, 99, 9]);
  expect(await file.read(into, 5000)).toBe(0);
  await file.truncate(4095);
  await file.truncate(5000);
  expect(await file.size()).toBe(5000);
  expect(await file.read(into, 4094)).toBe(6);
  expect([...into]).toEqual([97, 0, 0, 0, 0, 0]);
});

test("close waits for what is under way, is idempotent, and ends the handle", async () => {
  const host = simulatedHost({ seed: 1 });
  const file = await host.files.open("/a", "create");
  const events: string[] = [];
  const writes = [1, 2, 3].map(async () => {
    await file.write(bytesOf("x"), 0);
    events.push("written");
  });
  const closed = file.close().then(() => events.push("closed"));
  expect(await codeFrom(() => file.size())).toBe("EBADF");
  expect(await codeFrom(() => file.writeAtSync(bytesOf("x"), 0))).toBe("EBADF");
  expect(await codeFrom(() => file.dataSyncBlocking())).toBe("EBADF");
  await Promise.all([...writes, closed, file.close()]);
  expect(events).toEqual(["written", "written", "written", "closed"]);
  expect(host.operations.close).toBe(1);
});

test("names: link, rename, remove, directories, and their errors", async () => {
  const host = simulatedHost({ seed: 1 });
  const on = host.files;
  await on.makeDirectory("/d/e");
  await on.makeDirectory("/d/e");
  await createText(host, "/d/b", "b");
  await createText(host, "/d/a", "a");
  expect(await on.list("/d")).toEqual(["a", "b", "e"]);
  await on.link("/d/a", "/d/c");
  expect(await codeFrom(() => on.link("/d/a", "/d/b"))).toBe("EEXIST");
  expect(await codeFrom(() => on.link("/d/e", "/d/f"))).toBe("EPERM");
  await on.rename("/d/b", "/d/a");
  expect([await textAt(host, "/d/a"), await textAt(host, "/d/c")]).toEqual(["b", "a"]);
  expect(await codeFrom(() => on.rename("/d/b", "/d/a"))).toBe("ENOENT");
  expect(await codeFrom(() => on.rename("/d/a", "/d/e"))).toBe("EISDIR");
  expect(await codeFrom(() => on.rename("/d/e", "/d/a"))).toBe("ENOTDIR");
  expect(await codeFrom(() => on.rename("/d", "/d/e/f"))).toBe("EINVAL");
  expect(await codeFrom(() => on.remove("/d/b"))).toBe("ENOENT");
  expect(await codeFrom(() => on.remove("/d/e"))).toBe("EISDIR");
  expect(await codeFrom(() => on.removeDirectory("/d"))).toBe("ENOTEMPTY");
  expect(await codeFrom(() => on.removeDirectory("/d/a"))).toBe("ENOTDIR");
  expect(await codeFrom(() => on.makeDirectory("/d/a"))).toBe("ENOTDIR");
  expect(await codeFrom(() => on.list("/x"))).toBe("ENOENT");
  await on.removeDirectory("/d/e");
  expect(await on.stat("/d/e")).toBeUndefined();
});

test("stat says kind, size and the time of the last change", async () => {
  const host = simulatedHost({ seed: 1, startMillis: 5000 });
  await createText(host, "/a", "text");
  await host.advance(100);
  await host.files.makeDirectory("/d");
  expect(await host.files.stat("/a")).toMatchObject({ kind: "file", bytes: 4, modifiedMillis: 5000 });
  expect(await host.files.stat("d/../d")).toMatchObject({ kind: "directory", modifiedMillis: 5100 });
});

test("a file keeps its inode under every name, and another in its place has another", async () => {
  const { files } = simulatedHost({ seed: 1 });
  const inode = async (path: string): Promise<number | undefined> => (await files.stat(path))?.inode;
  for (const path of ["/a", "/b"]) await (await files.open(path, "create")).close();
  const [a, b] = [await inode("/a"), await inode("/b")];
  expect(a).not.toBe(b);
  await files.link("/a", "/c");
  await files.rename("/b", "/a");
  expect([await inode("/c"), await inode("/a")]).toEqual([a, b]);
});

test("makeDirectory survives with its parents", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const host = simulatedHost({ seed });
    await host.files.makeDirectory("/d/e/f");
    expect(await host.crash("nothing").files.list("/d/e")).toEqual(["f"]);
  }
});

test("content is what the cache shows, durableContent what a crash would leave", async () => {
  const host = simulatedHost({ seed: 1 });
  const file = await host.files.open("/a", "create");
  await file.write(bytesOf("one"), 0);
  await file.dataSync();
  expect(await codeFrom(() => host.durableContent("/a"))).toBe("ENOENT");
  await host.files.syncDirectory("/");
  await file.write(bytesOf("twofold"), 0);
  expect(textOf(host.content("/a"))).toBe("twofold");
  expect(textOf(host.durableContent("/a"))).toBe("one");
  await host.files.remove("/a");
  expect(await codeFrom(() => host.content("/a"))).toBe("ENOENT");
  expect(textOf(host.durableContent("/a"))).toBe("one");
});

test("a preallocation writes zeros over what was there and takes space", async () => {
  const host = simulatedHost({ seed: 1, faults: { noSpaceAfterBytes: 4096 * 1024 } });
  const file = await host.files.open("/a", "create");
  await file.write(bytesOf("text"), 0);
  const free = await host.files.freeBytes("/");
  await file.preallocate(2, 3 * 1024 * 1024);
  expect(await file.size()).toBe(2 + 3 * 1024 * 1024);
  expect(textOf(host.content("/a").subarray(0, 4))).toBe("te\0\0");
  expect(await host.files.freeBytes("/")).toBe(free - 3 * 1024 * 1024);
  expect(host.operations.preallocate).toBe(1);
});

test("a watcher hears of names and content in its directory, and of nothing after its close", async () => {
  const host = simulatedHost({ seed: 1 });
  await host.files.makeDirectory("/d");
  await host.files.makeDirectory("/e");
  let heard = 0;
  const watcher = host.files.watch("/d", () => heard++);
  const file = await host.files.open("/d/a", "create");
  await host.settle();
  expect(heard).toBe(1);
  file.writeAtSync(bytesOf("x"), 0);
  file.writeAtSync(bytesOf("y"), 1);
  await host.settle();
  expect(heard).toBe(2);
  await createText(host, "/e/b", "b");
  await host.settle();
  expect(heard).toBe(2);
  await host.files.rename("/e/b", "/d/b");
  watcher.close();
  await host.settle();
  expect(heard).toBeLessThanOrEqual(3);
  const then = heard;
  await host.files.remove("/d/b");
  await host.settle();
  expect(heard).toBe(then);
  expect(await codeFrom(() => host.files.watch("/x", () => undefined))).toBe("ENOENT");
});
