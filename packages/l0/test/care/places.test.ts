import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { KIB, MIB } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import { inspectStore, isEhdbError, openEngine, restoreStore, salvageStore, verifyStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { built, datasets, dir, fill, openOn, partFiles, rewrite } from "./drive.ts";

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isEhdbError(error) ? error.code : String(error);
};

/** Some of everything, on the real machine. */
async function real(): Promise<{ readonly at: string; readonly engine: DurableEngine }> {
  const at = await mkdtemp(join(tmpdir(), "places-test-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  const engine = await openEngine({ dir: join(at, "store"), datasets, background: false });
  await fill(engine, 100);
  await engine.seal();
  await fill(engine, 120);
  return { at, engine };
}

describe("where a copy goes", () => {
  it("is not within what is copied", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    expect(await codeOf(engine.backup(`${dir}/backup`))).toBe("INVALID_OPTION");
    await engine.backup("/backup");
    await engine.close();
    expect(await codeOf(restoreStore({ from: "/backup", to: "/backup/parts/x", host }))).toBe("INVALID_OPTION");
    expect(await host.files.list("/")).toEqual(["backup", "store"]);
    expect((await host.files.list(dir)).filter((name) => name.startsWith("backup"))).toEqual([]);
  });

  it.skipIf(process.platform === "win32")(
    "is not a link, whose place nothing can take: that is known at once",
    async () => {
      const { at, engine } = await real();
      await mkdir(join(at, "elsewhere"));
      await symlink(join(at, "elsewhere"), join(at, "link"));
      await symlink(join(at, "nowhere"), join(at, "dangling"));
      let told = 0;
      const onProgress = (): void => void told++;
      for (const name of ["link", "dangling"]) {
        expect(await codeOf(engine.backup(join(at, name), { onProgress }))).toBe("INVALID_OPTION");
        const salvaged = salvageStore({ dir: join(at, "store"), to: join(at, name) });
        expect(await codeOf(salvaged)).toBe("INVALID_OPTION");
      }
      expect([told, (await readdir(at)).sort()]).toEqual([0, ["dangling", "elsewhere", "link", "store"]]);
      await engine.close();
    },
  );

  it("is an empty directory again when it fails", async () => {
    const { host } = await built();
    await host.files.makeDirectory("/backup");
    const engine = await openOn(host);
    host.failNext("syncDirectory", "EIO", /backup.*parts/);
    expect(await codeOf(engine.backup("/backup"))).toBe("IO_ERROR");
    expect(await host.files.list("/")).toEqual(["backup", "store"]);
    expect(await host.files.list("/backup")).toEqual([]);
    expect((await engine.backup("/backup")).revision).toBe(1300);
    await engine.close();
  });

  it.each([
    ["write", /backup.*manifest/],
    ["write", /backup.*CURRENT/],
  ] as const)("is left alone when its disk is full (%s of %s), and the store goes on", async (kind, path) => {
    const { host } = await built();
    const engine = await openOn(host);
    await fill(engine, 1320);
    host.failNext(kind, "ENOSPC", path);
    expect(await codeOf(engine.backup("/backup"))).toBe("NO_SPACE");
    expect(await host.files.list("/")).toEqual(["store"]);
    await fill(engine, 1340);
    expect((await engine.backup("/backup")).revision).toBe(1340);
    await engine.close();
    expect((await verifyStore({ dir: "/backup", host })).ok).toBe(true);
  });
});

describe("on a disk with little left", () => {
  const reserved = MIB;
  /** Nothing is sealed but by `seal()`, so what there is to copy is known. */
  const roomy = { sealMaxBytes: 16 * MIB, sealReserveBytes: reserved };

  /** 2 000 commits in the journal alone, and as many in that of a backup: more than 1 100 KiB each. The reserve is whole, and nothing is under way. */
  async function unsealed(): Promise<{ readonly host: SimulatedHost; readonly engine: DurableEngine }> {
    const { host } = await built();
    const engine = await openOn(host, roomy);
    await engine.seal();
    await fill(engine, 3300);
    await engine.backup("/backup");
    await engine.seal();
    await fill(engine, 5300);
    await host.advance(1000);
    for (const of of [dir, "/backup"]) {
      const { journal } = await inspectStore({ dir: of, host });
      expect((journal.last ?? 0) - (journal.first ?? 0)).toBeGreaterThanOrEqual(1999);
    }
    return { host, engine };
  }

  it.each([0, 8, 64, 400, 1100])(
    "(%i KiB) a backup or a restore is refused, and leaves nothing behind, nor takes what is kept aside for seals",
    async (kib) => {
      const { host, engine } = await unsealed();
      const whole = 2 ** 40;
      host.faults.noSpaceAfterBytes = whole;
      host.faults.noSpaceAfterBytes = whole - (await host.files.freeBytes("/")) + kib * KIB;
      expect(await codeOf(engine.backup("/second"))).toBe("NO_SPACE");
      expect(await codeOf(restoreStore({ from: "/backup", to: "/restored", host }))).toBe("NO_SPACE");
      expect(await host.files.list("/")).toEqual(["backup", "store"]);
      expect(await host.files.freeBytes("/")).toBe(kib * KIB);
      expect(engine.stats()).toMatchObject({ reserve_bytes: reserved, reserve_used: 0, seal_failed: 0 });
      host.faults.noSpaceAfterBytes = Infinity;
      await fill(engine, 5400);
      expect((await engine.backup("/second")).revision).toBe(5400);
      await engine.close();
    },
  );

  it("(6 MiB) both are made: what is refused with less is refused for want of room", async () => {
    const { host, engine } = await unsealed();
    const whole = 2 ** 40;
    host.faults.noSpaceAfterBytes = whole;
    host.faults.noSpaceAfterBytes = whole - (await host.files.freeBytes("/")) + 6 * MIB;
    expect((await engine.backup("/second")).revision).toBe(5300);
    expect((await restoreStore({ from: "/backup", to: "/restored", host })).revision).toBe(3300);
    await engine.close();
  });
});

describe("a part", () => {
  it.skipIf(process.platform === "win32")("that is a link is backed up by its bytes", async () => {
    const { at, engine } = await real();
    const parts = join(at, "store", "parts");
    const [name = ""] = await readdir(parts);
    await mkdir(join(at, "store", "other"));
    await rename(join(parts, name), join(at, "store", "other", name));
    await symlink(join("..", "other", name), join(parts, name));
    await engine.backup(join(at, "backup"));
    await engine.close();
    const bytes = await readFile(join(at, "store", "other", name));
    await rm(join(at, "store"), { recursive: true });
    expect((await readFile(join(at, "backup", "parts", name))).equals(bytes)).toBe(true);
    expect((await verifyStore({ dir: join(at, "backup") })).ok).toBe(true);
  });

  it("of a backup that is cut or missing isn't restored as if it were whole", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    await engine.backup("/backup");
    await engine.close();
    const [first = "", second = ""] = await partFiles(host, "/backup");
    // A copy of its own, as on another disk.
    for (const path of [first, second]) {
      const bytes = Buffer.from(host.content(path));
      await host.files.remove(path);
      const file = await host.files.open(path, "create");
      await file.write(bytes, 0);
      await file.close();
    }
    await rewrite(host, first, (bytes) => bytes.subarray(0, 5000));
    const restore = (): Promise<unknown> => restoreStore({ from: "/backup", to: "/restored", host });
    await expect(restore()).rejects.toMatchObject({ code: "CORRUPT", data: { file: first, offset: 5000 } });
    await host.files.remove(first);
    await expect(restore()).rejects.toMatchObject({ code: "CORRUPT", data: { file: first, offset: 0 } });
    expect(await host.files.list("/")).toEqual(["backup", "store"]);
  });
});
