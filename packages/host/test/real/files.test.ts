import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { host, test } from "./temporary.ts";

const { files } = host;

describe("names", () => {
  test("a rename replaces what was there", async ({ dir }) => {
    await writeFile(join(dir, "from"), "new");
    await writeFile(join(dir, "to"), "old");
    await files.rename(join(dir, "from"), join(dir, "to"));
    expect(await files.list(dir)).toEqual(["to"]);
    expect(await readFile(join(dir, "to"), "utf8")).toBe("new");
    await expect(files.rename(join(dir, "from"), join(dir, "to"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a link is a second name and replaces nothing", async ({ dir }) => {
    await writeFile(join(dir, "first"), "content");
    await files.link(join(dir, "first"), join(dir, "second"));
    await expect(files.link(join(dir, "first"), join(dir, "second"))).rejects.toMatchObject({ code: "EEXIST" });
    await files.remove(join(dir, "first"));
    expect(await readFile(join(dir, "second"), "utf8")).toBe("content");
  });

  test("a removal needs something to remove", async ({ dir }) => {
    await writeFile(join(dir, "a"), "");
    await files.remove(join(dir, "a"));
    expect(await files.list(dir)).toEqual([]);
    await expect(files.remove(join(dir, "a"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a listing is sorted by code units and needs a directory", async ({ dir }) => {
    for (const name of ["b", "a", "B", "10", "9", "é"]) await writeFile(join(dir, name), "");
    expect(await files.list(dir)).toEqual(["10", "9", "B", "a", "b", "é"]);
    await expect(files.list(join(dir, "none"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("stat tells kinds, sizes and times, and nothing from no file", async ({ dir }) => {
    const before = Date.now();
    await writeFile(join(dir, "a"), "abc");
    await symlink("/dev/null", join(dir, "null"));
    const found = await files.stat(join(dir, "a"));
    expect(found).toMatchObject({ kind: "file", bytes: 3 });
    // File systems keep coarser times than the clock.
    expect(found?.modifiedMillis).toBeGreaterThan(before - 2_000);
    expect(found?.modifiedMillis).toBeLessThan(Date.now() + 2_000);
    expect(await files.stat(dir)).toMatchObject({ kind: "directory" });
    expect(await files.stat(join(dir, "null"))).toMatchObject({ kind: "other" });
    expect(await files.stat(join(dir, "none"))).toBeUndefined();
    await expect(files.stat(join(dir, "a", "b"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("a file keeps its inode under every name, and another in its place has another", async ({ dir }) => {
    const inode = async (name: string): Promise<number | undefined> => (await files.stat(join(dir, name)))?.inode;
    for (const name of ["a", "b"]) await writeFile(join(dir, name), "");
    const [a, b] = [await inode("a"), await inode("b")];
    expect(a).not.toBe(b);
    await files.link(join(dir, "a"), join(dir, "c"));
    await files.rename(join(dir, "b"), join(dir, "a"));
    expect([await inode("c"), await inode("a")]).toEqual([a, b]);
  });
});

describe("directories", () => {
  test("are made with their parents, and again without an error", async ({ dir }) => {
    const path = join(dir, "a", "b", "c");
    await files.makeDirectory(path);
    await files.makeDirectory(path);
    await files.makeDirectory(`${path}/`);
    expect(await files.stat(path)).toMatchObject({ kind: "directory" });
  });

  test("are made by several at once", async ({ dir }) => {
    const paths = ["x", "x", "y"].map((name) => join(dir, "a", "b", name));
    await Promise.all(paths.map((path) => files.makeDirectory(path)));
    expect(await files.list(join(dir, "a", "b"))).toEqual(["x", "y"]);
  });

  test("aren't made over or under a file", async ({ dir }) => {
    await writeFile(join(dir, "a"), "kept");
    await expect(files.makeDirectory(join(dir, "a"))).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(files.makeDirectory(join(dir, "a", "b"))).rejects.toMatchObject({ code: "ENOTDIR" });
    expect(await readFile(join(dir, "a"), "utf8")).toBe("kept");
  });

  test("are removed only when empty", async ({ dir }) => {
    const path = join(dir, "a");
    await files.makeDirectory(path);
    await writeFile(join(path, "b"), "");
    await expect(files.removeDirectory(path)).rejects.toMatchObject({ code: "ENOTEMPTY" });
    await files.remove(join(path, "b"));
    await files.removeDirectory(path);
    expect(await files.stat(path)).toBeUndefined();
  });

  test("are synced, when they are there and directories", async ({ dir }) => {
    await files.syncDirectory(dir);
    await writeFile(join(dir, "a"), "");
    await expect(files.syncDirectory(join(dir, "none"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(files.syncDirectory(join(dir, "a"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("stand on a file system that has room", async ({ dir }) => {
    const free = await files.freeBytes(dir);
    expect(Number.isSafeInteger(free)).toBe(true);
    expect(free).toBeGreaterThan(0);
    await expect(files.freeBytes(join(dir, "none"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a watcher", () => {
  test("hears of a new name", async ({ dir }) => {
    let watcher: { close(): void } | undefined;
    const heard = new Promise<void>((resolve) => (watcher = files.watch(dir, resolve)));
    await writeFile(join(dir, "a"), "");
    await heard;
    watcher?.close();
    watcher?.close();
  });

  test("hears of a write to a file that is there", async ({ dir }) => {
    const file = await files.open(join(dir, "a"), "create");
    let watcher: { close(): void } | undefined;
    const heard = new Promise<void>((resolve) => (watcher = files.watch(dir, resolve)));
    file.writeAtSync(new Uint8Array(1), 0);
    await heard;
    watcher?.close();
    await file.close();
  });

  test("hears nothing after it was closed", async ({ dir }) => {
    let calls = 0;
    files.watch(dir, () => calls++).close();
    let open: { close(): void } | undefined;
    const heard = new Promise<void>((resolve) => (open = files.watch(dir, resolve)));
    await writeFile(join(dir, "a"), "");
    await heard;
    open?.close();
    expect(calls).toBe(0);
  });

  test("needs a directory", ({ dir }) => {
    expect(() => files.watch(join(dir, "none"), () => {})).toThrow("ENOENT");
  });
});
