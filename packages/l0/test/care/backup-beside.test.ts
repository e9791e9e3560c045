import { describe, expect, it } from "vitest";
import type { Clock, Files, Host, SimulatedHost } from "@ehdb/host";
import { backupStore, restoreStore, verifyStore } from "@ehdb/l0";
import { built, contents, contentsAt, dir, doorsOf, fill, openOn, partFiles, replaced } from "./drive.ts";

/** What the store in a directory shows; all of it must be whole. */
async function shown(host: SimulatedHost, of: string): Promise<string[]> {
  expect((await verifyStore({ dir: of, host })).damage).toEqual([]);
  const engine = await openOn(host, { dir: of });
  const all = await contents(engine);
  await engine.close();
  return all;
}

/**
 * The same disk, seen by another process, to which the store's directory is read-only; it counts its links of parts. It waits for turns where it should
 * wait for time: nobody moves the clock of these tests.
 */
function beside(host: SimulatedHost, methods: Partial<Files> = {}): Host & { readonly links: () => number } {
  const own = (path: string): boolean => path !== dir && !path.startsWith(`${dir}/`);
  let links = 0;
  const refused = async (): Promise<never> => {
    throw Object.assign(new Error("read-only"), { code: "EROFS" });
  };
  const files = replaced<Files>(host.files, {
    open: (path, mode) => (mode === "read" || own(path) ? host.files.open(path, mode) : refused()),
    link: (from, to) => {
      links++;
      return host.files.link(from, to);
    },
    remove: (path) => (own(path) ? host.files.remove(path) : refused()),
    lock: (path) => (own(path) ? host.files.lock(path) : refused()),
    ...methods,
  });
  const clock = replaced<Clock>(host.clock, {
    timer: (_, call) => {
      host.clock.defer(call);
      return { cancel: () => undefined };
    },
  });
  return { ...doorsOf(host), files, clock, links: () => links };
}

describe("a backup beside the process that writes", () => {
  it.each([
    [1, "linked"],
    [2, "linked"],
    [3, "linked"],
    [4, "copied"],
    [5, "copied"],
  ] as const)("is the store at one revision, under load, seals and merges (seed %i, parts %s)", async (seed, how) => {
    const { host } = await built({}, seed);
    const engine = await openOn(host, { sealMaxCommits: 50 });
    const refuse = async (): Promise<never> => {
      throw Object.assign(new Error("another file system"), { code: "EXDEV" });
    };
    const other = beside(host, how === "copied" ? { link: refuse } : {});
    let working = true;
    const work = (async () => {
      for (let round = 0; working; round++) {
        await fill(engine, engine.heads.accepted + 60);
        if (round % (how === "copied" ? 7 : 2) === 1) await engine.merge();
      }
    })();
    const revisions: number[] = [];
    for (let i = 0; i < 8; i++) {
      const durable = engine.heads.durable;
      const { revision } = await backupStore({ dir, to: `/backup-${i}`, host: other });
      expect(revision).toBeGreaterThanOrEqual(durable);
      expect(revision).toBeLessThanOrEqual(engine.heads.durable);
      revisions.push(revision);
    }
    working = false;
    await work;
    const all = await contents(engine);
    await engine.close();
    expect(new Set(revisions).size).toBeGreaterThan(4);
    for (const [i, revision] of revisions.entries())
      expect(await shown(host, `/backup-${i}`), `backup ${i}`).toEqual(contentsAt(all, revision));
  });

  it("never mixes a store with a copy of it from before, which takes its place", async () => {
    const { host, all } = await built();
    await backupStore({ dir, to: "/before", host: beside(host) });
    await restoreStore({ from: "/before", to: "/restored", host });
    const engine = await openOn(host);
    await fill(engine, 1400);
    await engine.seal();
    await fill(engine, 1450);
    await engine.close();
    const parts = (await partFiles(host)).length;
    let links = 0;
    const swapping: Files["link"] = async (from, to) => {
      await host.files.link(from, to);
      if (++links !== parts) return;
      await host.files.rename(dir, "/old");
      await host.files.rename("/restored", dir);
    };
    const { revision } = await backupStore({ dir, to: "/backup", host: beside(host, { link: swapping }) });
    expect(revision).toBe(1300);
    expect(await shown(host, "/backup")).toEqual(all);
  });

  it("has all that was acknowledged before it began, also to a writer that is idle from then on", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    await fill(engine, 1350);
    const all = await contents(engine);
    const backup = backupStore({ dir, to: "/backup", host: { ...beside(host), clock: host.clock } });
    await host.advance(200);
    expect((await backup).revision).toBe(1350);
    await fill(engine, 1360);
    await engine.close();
    await restoreStore({ from: "/backup", to: "/restored", host });
    expect(await shown(host, "/restored")).toEqual(all);
  });

  it("of a writer that has stopped is what it had stated, half a second later", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    await fill(engine, 1320);
    await fill(engine, 1321);
    const next = host.kill();
    const backup = backupStore({ dir, to: "/backup", host: next });
    await next.advance(499);
    expect(await next.files.list("/")).toEqual(["store"]);
    await next.advance(50);
    expect((await backup).revision).toBe(1320);
  });

  it("begins again when what it copies is merged or sealed away, and gives up when that never ends", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    let times = 1;
    const overtaken: Files["link"] = async (from, to) => {
      if (times-- > 0) {
        await fill(engine, engine.heads.accepted + 20);
        await engine.seal();
        await engine.merge();
      }
      await host.files.link(from, to);
    };
    const { revision } = await backupStore({ dir, to: "/once", host: beside(host, { link: overtaken }) });
    expect([revision, times]).toEqual([1320, -2]);
    times = Infinity;
    const refused = backupStore({ dir, to: "/never", host: beside(host, { link: overtaken }) });
    await expect(refused).rejects.toMatchObject({ code: "LOCKED", data: { dir } });
    const all = await contents(engine);
    await engine.close();
    expect(await host.files.list("/")).toEqual(["once", "store"]);
    expect(await shown(host, "/once")).toEqual(contentsAt(all, 1320));
  });

  it("is refused where a part is really missing", async () => {
    const { host } = await built();
    const [part = ""] = await partFiles(host);
    await host.files.rename(part, "/away");
    const refused = backupStore({ dir, to: "/backup", host: beside(host) });
    await expect(refused).rejects.toMatchObject({ code: "CORRUPT", data: { file: part } });
    expect(await host.files.list("/")).toEqual(["away", "store"]);
  });

  it.each([
    [1, "journal too"],
    [4, "journal too"],
    [Infinity, "journal too"],
    [Infinity, "parts alone"],
  ])("never mixes two stores, when another one takes the place (at link %d, of %s)", async (at, what) => {
    const { host } = await built();
    if (what === "parts alone") {
      const engine = await openOn(host);
      await engine.seal();
      await engine.close();
    }
    const place = Math.min(at, (await partFiles(host)).length);
    let links = 0;
    const swapping: Files["link"] = async (from, to) => {
      await host.files.link(from, to);
      if (++links !== place) return;
      await host.files.rename(dir, "/old");
      const another = await openOn(host);
      await fill(another, 7);
      await another.close();
    };
    const { revision } = await backupStore({ dir, to: "/backup", host: beside(host, { link: swapping }) });
    const saved = await shown(host, "/backup");
    expect([revision, saved]).toEqual([7, await shown(host, dir)]);
  });
});
