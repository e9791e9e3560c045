import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { bytesOf, host, test } from "./temporary.ts";

const { files } = host;

describe("a file", () => {
  test("gives back what was written, at its place", async ({ dir }) => {
    const file = await files.open(join(dir, "a"), "create");
    await file.write(bytesOf("world"), 6);
    file.writeAtSync(bytesOf("hello "), 0);
    const into = new Uint8Array(11);
    expect(await file.read(into, 0)).toBe(11);
    expect(into).toEqual(bytesOf("hello world"));
    expect(await file.size()).toBe(11);
    await file.close();
  });

  test("writes a piece of a larger buffer and nothing beside it", async ({ dir }) => {
    const path = join(dir, "a");
    const file = await files.open(path, "create");
    const whole = bytesOf("0123456789");
    await file.write(whole.subarray(2, 5), 0);
    file.writeAtSync(whole.subarray(7, 9), 3);
    await file.close();
    expect(await readFile(path, "utf8")).toBe("23478");
  });

  test("reads short only at its end", async ({ dir }) => {
    const path = join(dir, "a");
    await writeFile(path, "abcdef");
    const file = await files.open(path, "read");
    const into = new Uint8Array(4).fill(255);
    expect(await file.read(into, 0)).toBe(4);
    expect(await file.read(into, 4)).toBe(2);
    expect(into).toEqual(bytesOf("efcd"));
    expect(await file.read(into, 6)).toBe(0);
    expect(await file.read(into, 1_000)).toBe(0);
    expect(await file.read(new Uint8Array(0), 0)).toBe(0);
    await file.close();
  });

  test("takes ten megabytes in one write and gives them back in one read", async ({ dir }) => {
    const file = await files.open(join(dir, "a"), "create");
    const bytes = host.random.bytes(10 * 1024 * 1024 + 17);
    await file.write(bytes, 3);
    const into = new Uint8Array(bytes.byteLength);
    expect(await file.read(into, 3)).toBe(bytes.byteLength);
    expect(Buffer.compare(into, bytes)).toBe(0);
    await file.close();
  });

  test("is made once: a second create is refused and harms nothing", async ({ dir }) => {
    const path = join(dir, "a");
    await (await files.open(path, "create")).close();
    await writeFile(path, "kept");
    await expect(files.open(path, "create")).rejects.toMatchObject({ code: "EEXIST", path });
    expect(await readFile(path, "utf8")).toBe("kept");
  });

  test("must exist to be read or written", async ({ dir }) => {
    const path = join(dir, "none");
    await expect(files.open(path, "read")).rejects.toMatchObject({ code: "ENOENT", path });
    await expect(files.open(path, "write")).rejects.toMatchObject({ code: "ENOENT", path });
    expect(await files.stat(path)).toBeUndefined();
  });

  test("opened to write keeps its content; opened to read refuses writes", async ({ dir }) => {
    const path = join(dir, "a");
    await writeFile(path, "abc");
    const writable = await files.open(path, "write");
    await writable.write(bytesOf("X"), 1);
    await writable.close();
    expect(await readFile(path, "utf8")).toBe("aXc");
    const readable = await files.open(path, "read");
    await expect(readable.write(bytesOf("Y"), 0)).rejects.toMatchObject({ code: "EBADF" });
    expect(() => readable.writeAtSync(bytesOf("Y"), 0)).toThrow("EBADF");
    await readable.close();
    expect(await readFile(path, "utf8")).toBe("aXc");
  });

  test("is zeros where it was preallocated, and nowhere else", async ({ dir }) => {
    const path = join(dir, "a");
    const bytes = 600 * 1024 + 5;
    const file = await files.open(path, "create");
    await file.write(new Uint8Array(bytes + 20).fill(7), 0);
    await file.preallocate(10, bytes);
    await file.dataSync();
    file.dataSyncBlocking();
    await file.close();
    const expected = new Uint8Array(bytes + 20).fill(7).fill(0, 10, 10 + bytes);
    expect(Buffer.compare(await readFile(path), expected)).toBe(0);
  });

  test("takes up room on the disk when it was preallocated", async ({ dir }) => {
    const { stat } = await import("node:fs/promises");
    const path = join(dir, "a");
    const file = await files.open(path, "create");
    await file.preallocate(0, 1024 * 1024);
    await file.dataSync();
    await file.close();
    const { size, blocks } = await stat(path);
    expect(size).toBe(1024 * 1024);
    expect(blocks * 512).toBeGreaterThanOrEqual(1024 * 1024);
  });

  test("is cut and grown by truncate", async ({ dir }) => {
    const path = join(dir, "a");
    const file = await files.open(path, "create");
    await file.write(bytesOf("abcdef"), 0);
    await file.truncate(2);
    expect(await file.size()).toBe(2);
    await file.truncate(4);
    await file.close();
    expect(await readFile(path)).toEqual(Buffer.from("ab\0\0"));
  });

  test.for([-1, 0.5, Number.NaN, 2 ** 53])(
    "refuses position %d instead of writing somewhere",
    async (position, { dir }) => {
      const path = join(dir, "a");
      const file = await files.open(path, "create");
      const refused = { code: "EINVAL", path };
      await expect(file.write(bytesOf("x"), position)).rejects.toMatchObject(refused);
      await expect(file.read(new Uint8Array(1), position)).rejects.toMatchObject(refused);
      await expect(file.preallocate(0, position)).rejects.toMatchObject(refused);
      await expect(file.truncate(position)).rejects.toMatchObject(refused);
      expect(() => file.writeAtSync(bytesOf("x"), position)).toThrow("EINVAL");
      expect(await file.size()).toBe(0);
      await file.close();
    },
  );
});

describe("a closed file", () => {
  test("refuses every operation with EBADF and closes again", async ({ dir }) => {
    const path = join(dir, "a");
    const file = await files.open(path, "create");
    await file.close();
    await file.close();
    // It has the number that the closed one had, and must not get its bytes.
    const next = await files.open(join(dir, "b"), "create");
    const refused = { code: "EBADF", path };
    await expect(file.read(new Uint8Array(1), 0)).rejects.toMatchObject(refused);
    await expect(file.write(bytesOf("x"), 0)).rejects.toMatchObject(refused);
    await expect(file.preallocate(0, 1)).rejects.toMatchObject(refused);
    await expect(file.dataSync()).rejects.toMatchObject(refused);
    await expect(file.truncate(0)).rejects.toMatchObject(refused);
    await expect(file.size()).rejects.toMatchObject(refused);
    expect(() => file.writeAtSync(bytesOf("x"), 0)).toThrow("EBADF");
    expect(() => file.dataSyncBlocking()).toThrow("EBADF");
    expect(await next.size()).toBe(0);
    await next.close();
  });

  test("was closed only after what was under way", async ({ dir }) => {
    const path = join(dir, "a");
    const file = await files.open(path, "create");
    const order: string[] = [];
    const preallocated = file.preallocate(0, 4 * 1024 * 1024).then(() => order.push("preallocated"));
    await file.close().then(() => order.push("closed"));
    await preallocated;
    expect(order).toEqual(["preallocated", "closed"]);
    expect(await files.stat(path)).toMatchObject({ bytes: 4 * 1024 * 1024 });
  });
});
