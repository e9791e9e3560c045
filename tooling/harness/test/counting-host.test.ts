import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countingHost } from "../src/index.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "counting-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("a counting host", () => {
  it("counts each read and its bytes, from take to take", async () => {
    const path = join(directory, "file");
    writeFileSync(path, Buffer.alloc(1000, 7));
    const { host, take } = countingHost();
    const file = await host.files.open(path, "read");
    const into = Buffer.alloc(400);
    await file.read(into, 0);
    await file.read(into, 800);
    expect(into[399]).toBe(7);
    expect(take()).toEqual({ reads: 2, bytes: 600, writtenBytes: 0 });
    expect(take()).toEqual({ reads: 0, bytes: 0, writtenBytes: 0 });
    await file.close();
  });

  it("leaves everything else to the machine", async () => {
    const { host, take } = countingHost();
    const path = join(directory, "written");
    const file = await host.files.open(path, "create");
    await file.write(Buffer.from("abc"), 0);
    await file.dataSync();
    expect(await file.size()).toBe(3);
    expect(file.path).toBe(path);
    await file.close();
    expect(await host.files.list(directory)).toEqual(["written"]);
    expect(take()).toEqual({ reads: 0, bytes: 0, writtenBytes: 3 });
  });

  it("leaves out files whose path doesn't match", async () => {
    const { host, take } = countingHost(/wanted$/);
    for (const name of ["wanted", "other"]) {
      const file = await host.files.open(join(directory, name), "create");
      await file.write(Buffer.from(name), 0);
      await file.read(Buffer.alloc(3), 0);
      await file.close();
    }
    expect(take()).toEqual({ reads: 1, bytes: 3, writtenBytes: 6 });
  });
});
