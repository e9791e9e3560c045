import { describe, expect, it } from "vitest";
import type { File, Files, Host, SimulatedHost } from "@ehdb/host";
import { openEngine, salvageStore, verifyStore } from "@ehdb/l0";
import {
  built,
  contents,
  datasets,
  dir,
  doorsOf,
  fill,
  manifestFiles,
  partFiles,
  replaced,
  segmentFiles,
} from "./drive.ts";

const sector = 4096;

/** The same machine, of whose disk a sector of a file can't be read any more. */
function withBadSector(host: SimulatedHost, path: string, at: number): Host {
  const open: Host["files"]["open"] = async (name, mode) => {
    const file = await host.files.open(name, mode);
    if (name !== path) return file;
    const read: File["read"] = async (into, position) => {
      if (position >= at + sector || position + into.length <= at) return await file.read(into, position);
      throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
    };
    return replaced<File>(file, { read });
  };
  return { ...doorsOf(host), files: replaced<Files>(host.files, { open }) };
}

describe("a sector that the disk can't read", () => {
  it.each(["part", "segment", "manifest"] as const)("of a %s is one damage, and the rest is saved", async (kind) => {
    const { host, all } = await built();
    const of = { part: partFiles, segment: segmentFiles, manifest: manifestFiles }[kind];
    const path = (await of(host)).at(kind === "segment" ? -1 : 0) as string;
    // Of a segment among the commits that are in no part: before its end.
    const end = Buffer.from(host.content(path)).findLastIndex((byte) => byte !== 0);
    const at = { part: 2 * sector, segment: Math.floor(end / sector) * sector - 4 * sector, manifest: 0 }[kind];
    const bad = withBadSector(host, path, at);
    const { ok, damage } = await verifyStore({ dir, host: bad });
    expect(ok).toBe(false);
    expect(damage.filter(({ reason }) => reason.includes("EIO"))).toMatchObject([{ file: path, offset: at }]);
    expect(damage.every(({ file }) => file === path)).toBe(true);

    const report = await salvageStore({ dir, to: "/saved", host: bad });
    expect(report.damage.some(({ reason }) => reason.includes("EIO"))).toBe(kind !== "manifest");
    expect((await verifyStore({ dir: "/saved", host })).ok).toBe(true);
    const engine = await openEngine({ dir: "/saved", datasets, host, background: false });
    const saved = await contents(engine);
    await engine.close();
    const events = (texts: readonly string[]): string[] => texts.filter((text) => / id-\d+ /.test(text));
    const missing = events(all).length - events(saved).length;
    expect(missing).toBeLessThan(150);
    expect(missing > 0).toBe(kind !== "manifest");
  });

  it.each(["part", "segment", "manifest"] as const)("of a %s of an open store is one damage", async (kind) => {
    const { host } = await built();
    let badAt: readonly [path: string, at: number] | undefined;
    const open: Host["files"]["open"] = async (name, mode) => {
      const [path, at] = badAt ?? [];
      return await (path === undefined ? host : withBadSector(host, path, at as number)).files.open(name, mode);
    };
    const engine = await openEngine({
      dir,
      datasets,
      reserveBytes: 0,
      background: false,
      host: { ...doorsOf(host), files: replaced<Files>(host.files, { open }) },
    });
    await fill(engine, 1400);
    const of = { part: partFiles, segment: segmentFiles, manifest: manifestFiles }[kind];
    const path = (await of(host)).at(kind === "part" ? 0 : -1) as string;
    badAt = [path, { part: 2 * sector, segment: 2 * sector, manifest: 0 }[kind]];
    const [, scrubbed] = await Promise.all([host.advance(60_000), engine.scrub()]);
    for (const { ok, damage } of [await engine.verify(), scrubbed]) {
      expect(ok).toBe(false);
      expect(damage.filter(({ reason }) => reason.includes("EIO"))).toMatchObject([{ file: path, offset: badAt[1] }]);
      expect(damage.every(({ file }) => file === path)).toBe(true);
    }
    badAt = undefined;
    await engine.close();
  });

  it("once, and the next time it can, is none", async () => {
    const { host } = await built();
    const [path = ""] = await partFiles(host);
    host.failNext("read", "EIO", new RegExp(path));
    expect(await verifyStore({ dir, host })).toMatchObject({ ok: true });
  });
});

describe("verifying", () => {
  it("of a store whose journal is a file tells that there is none", async () => {
    const { host } = await built();
    for (const name of await host.files.list(`${dir}/journal`)) await host.files.remove(`${dir}/journal/${name}`);
    await host.files.removeDirectory(`${dir}/journal`);
    await (await host.files.open(`${dir}/journal`, "create")).close();
    const { damage } = await verifyStore({ dir, host });
    expect(damage).toMatchObject([{ kind: "journal", reason: "there is no journal" }]);
  });
});
