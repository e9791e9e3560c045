import { describe, expect, it } from "vitest";
import { isEhdbError } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { File, Files, Host, SimulatedHost } from "@ehdb/host";
import { inspectStore, restoreStore, verifyStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { built, contents, contentsAt, dir, doorsOf, fill, openOn, replaced } from "./drive.ts";

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return "none";
  } catch (error) {
    return isEhdbError(error) ? error.code : String(error);
  }
};

/** What the store in a directory shows, and whether all of it is whole. */
async function shown(host: SimulatedHost, of: string): Promise<string[]> {
  expect((await verifyStore({ dir: of, host })).damage).toEqual([]);
  const engine = await openOn(host, { dir: of });
  const all = await contents(engine);
  await engine.close();
  return all;
}

/** A machine whose files can't be given a second name. */
function withoutLinks(host: SimulatedHost): Host {
  const refuse = async (): Promise<never> => {
    throw Object.assign(new Error("another file system"), { code: "EXDEV" });
  };
  return { ...doorsOf(host), files: replaced<Files>(host.files, { link: refuse }) };
}

/** A machine that tells when a sync of a manifest has succeeded, before its caller knows. */
function tellingSyncs(host: SimulatedHost, onSynced: () => void): Host {
  const open: Files["open"] = async (path, mode) => {
    const file = await host.files.open(path, mode);
    if (!/manifest-\d+$/.test(path.replace(/\.[0-9a-f]+\.tmp$/, ""))) return file;
    const dataSync = async (): Promise<void> => {
      await file.dataSync();
      onSynced();
    };
    return replaced<File>(file, { dataSync });
  };
  return { ...doorsOf(host), files: replaced<Files>(host.files, { open }) };
}

describe("a backup", () => {
  it("is the store, bit for bit, and so is what is restored from it, twice", async () => {
    const { host, commits } = await built();
    const engine = await openOn(host);
    const all = await contents(engine);
    const steps: [number, number][] = [];
    const report = await engine.backup("/backup", { onProgress: (done, total) => steps.push([done, total]) });
    expect(report).toMatchObject({ revision: commits, parts: 6, commits: 100 });
    expect(report.linkedBytes).toBeGreaterThan(10 * report.copiedBytes);
    expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).sort((a, b) => a - b));
    expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
    await engine.close();
    for (const to of ["/one", "/other"]) {
      expect(await restoreStore({ from: "/backup", to, host })).toMatchObject({ revision: commits });
      expect(await shown(host, to)).toEqual(all);
    }
    expect(await shown(host, "/backup")).toEqual(all);
    expect(await shown(host, dir)).toEqual(all);
  });

  it("taken under load, beside seals and merges, is the store at one revision", async () => {
    const { host } = await built();
    const engine = await openOn(host, { sealMaxCommits: 50, background: true });
    let working = true;
    const work = (async () => {
      while (working) {
        await fill(engine, engine.heads.accepted + 60);
        if (engine.heads.accepted % 4 === 0) await engine.merge();
      }
    })();
    const revisions: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { revision } = await engine.backup(`/backup-${i}`);
      revisions.push(revision);
      expect(revision).toBeLessThanOrEqual(engine.heads.durable);
    }
    working = false;
    await work;
    const all = await contents(engine);
    await engine.close();
    expect(new Set(revisions).size).toBeGreaterThan(4);
    for (const [i, revision] of revisions.entries())
      expect(await shown(host, `/backup-${i}`), `backup ${i}`).toEqual(contentsAt(all, revision));
  });

  it("keeps what it takes: merges and drops of the journal wait for it", async () => {
    const { host, commits } = await built();
    const engine = await openOn(host);
    const all = await contents(engine);
    const links = host.hold(["link"]);
    const backing = engine.backup("/backup");
    await host.settle();
    await fill(engine, 3000);
    await engine.seal();
    await engine.merge();
    await engine.scavenge();
    links.release();
    expect((await backing).revision).toBe(commits);
    await engine.close();
    expect(await shown(host, "/backup")).toEqual(all);
  });

  it("is of one moment, whichever step of a seal it begins between", async () => {
    for (let steps = 0; steps < 40; steps++) {
      const host = simulatedHost({ seed: 1 });
      let backing: Promise<unknown> | undefined;
      let synced = (): void => undefined;
      const beginBackup = (): void => {
        void (async () => {
          for (let step = 0; step < steps; step++) await Promise.resolve();
          backing ??= opened.backup("/backup");
        })();
      };
      const opened = await openOn(host, { host: tellingSyncs(host, () => synced()) });
      await fill(opened, 20);
      synced = beginBackup;
      await opened.seal();
      await host.settle();
      await backing;
      const all = await contents(opened);
      await opened.close();
      expect(await shown(host, "/backup"), `${steps} steps`).toEqual(all);
    }
  });

  it("copies parts where the file system can't give them a second name", async () => {
    const { host } = await built();
    const engine = await openOn(host, { host: withoutLinks(host) });
    const all = await contents(engine);
    const report = await engine.backup("/backup");
    expect(report.linkedBytes).toBe(0);
    const bytes = (await inspectStore({ dir: "/backup", host })).disk.parts;
    expect(report.copiedBytes).toBeGreaterThan(bytes);
    await engine.close();
    expect(await shown(host, "/backup")).toEqual(all);
  });

  it("of an encrypted store is encrypted, too", async () => {
    const encryption = { current: "a", keys: { a: new Uint8Array(32).fill(7) } };
    const { host } = await built({ encryption });
    const engine = await openOn(host, { encryption });
    const all = await contents(engine);
    await engine.backup("/backup");
    await engine.close();
    await restoreStore({ from: "/backup", to: "/restored", host });
    expect(await codeOf(openOn(host, { dir: "/restored" }))).toBe("KEY_MISSING");
    const restored = await openOn(host, { dir: "/restored", encryption });
    expect(await contents(restored)).toEqual(all);
    await restored.close();
  });

  it("is refused where something stands, and leaves nothing behind when it's refused, aborted or fails", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    expect(await codeOf(engine.backup(dir))).toBe("ALREADY_EXISTS");
    expect(await codeOf(engine.backup(""))).toBe("INVALID_OPTION");
    const stop = new AbortController();
    expect(await codeOf(engine.backup("/backup", { signal: stop.signal, onProgress: () => stop.abort() }))).toBe(
      "ABORTED",
    );
    host.failNext("syncDirectory", "EIO", /backup.*parts/);
    expect(await codeOf(engine.backup("/backup"))).toBe("IO_ERROR");
    expect(await host.files.list("/")).toEqual(["store"]);
    await engine.backup("/backup");
    await engine.close();
    expect(await codeOf(engine.backup("/other"))).toBe("CLOSED");
    expect(await codeOf(restoreStore({ from: dir, to: "/other", host }))).toBe("INVALID_OPTION");
    expect(await codeOf(restoreStore({ from: "/none", to: "/other", host }))).toBe("NOT_FOUND");
    expect(await codeOf(restoreStore({ from: "/backup", to: dir, host }))).toBe("ALREADY_EXISTS");
    expect(await codeOf(restoreStore({ from: "/backup", to: "/other", host, signal: AbortSignal.abort() }))).toBe(
      "ABORTED",
    );
    expect(await host.files.list("/")).toEqual(["backup", "store"]);
  });
});

describe("a restored store", () => {
  /** A store, its backup at commit 400, and what it did afterwards. */
  async function diverged(host: SimulatedHost): Promise<{ engine: DurableEngine; sort: number; epoch: number }> {
    const first = await openOn(host);
    await fill(first, 400);
    await first.backup("/backup");
    await first.close();
    for (let life = 0; life < 5; life++) await (await openOn(host)).close();
    const engine = await openOn(host);
    await fill(engine, 450);
    return { engine, sort: engine.log("events").last, epoch: engine.epoch };
  }

  it("has an incarnation and an epoch of its own, and so has each other one", async () => {
    const host = simulatedHost({ seed: 3 });
    const { engine } = await diverged(host);
    await engine.close();
    const facts = [await inspectStore({ dir, host })];
    for (const to of ["/one", "/other"]) {
      await restoreStore({ from: "/backup", to, host });
      for (let life = 0; life < 2; life++) await (await openOn(host, { dir: to })).close();
      facts.push(await inspectStore({ dir: to, host }));
    }
    expect(new Set(facts.map(({ storeId }) => storeId)).size).toBe(1);
    expect(new Set(facts.map(({ incarnation }) => incarnation)).size).toBe(3);
    expect(new Set(facts.map(({ epoch }) => epoch)).size).toBe(3);
    for (const { epoch } of facts.slice(1)) expect(epoch).toBeGreaterThan(2 ** 20);
    const before = (await inspectStore({ dir: "/one", host })).incarnation;
    await (await openOn(host, { dir: "/one" })).close();
    expect((await inspectStore({ dir: "/one", host })).incarnation).toBe(before);
  });

  it("refuses checkpoints that the original gave after the backup, and takes those from before it", async () => {
    const host = simulatedHost({ seed: 4 });
    const { engine, sort, epoch } = await diverged(host);
    await engine.close();
    await restoreStore({ from: "/backup", to: "/restored", host });
    for (const of of ["/restored", "/backup"]) {
      const restored = await openOn(host, { dir: of });
      const events = restored.log("events");
      const continues = async (at: number): Promise<void> => events.assertContinues(at, epoch);
      expect(await codeOf(continues(sort))).toBe("TRUNCATED");
      expect(await codeOf(continues(400))).toBe("none");
      await fill(restored, 500);
      expect(events.last).toBeGreaterThan(sort);
      expect(await codeOf(continues(sort))).toBe("TRUNCATED");
      expect(await codeOf(continues(401))).toBe("TRUNCATED");
      await restored.close();
      const again = await openOn(host, { dir: of });
      await expect((async () => again.log("events").assertContinues(401, epoch))()).rejects.toThrow(/401/);
      await again.close();
    }
  });

  it("begins its incarnation anew when its first open was cut short anywhere", async () => {
    for (let crash = 1; ; crash++) {
      let host = simulatedHost({ seed: crash });
      const { engine, sort, epoch } = await diverged(host);
      await engine.close();
      host.crashAfter(crash);
      const opened = openOn(host, { dir: "/backup" });
      const isDone = (await Promise.race([opened, host.whenFrozen()])) !== undefined;
      host = host.crash();
      const restored = await openOn(host, { dir: "/backup" });
      await fill(restored, 500);
      expect(restored.epoch).toBeGreaterThan(2 ** 20);
      expect(() => restored.log("events").assertContinues(sort, epoch)).toThrow(/took it back/);
      await restored.close();
      if (isDone) break;
    }
  });
});

describe("a crash in a backup", () => {
  async function small(seed: number): Promise<{ host: SimulatedHost; engine: DurableEngine }> {
    const host = simulatedHost({ seed });
    const engine = await openOn(host);
    await fill(engine, 20);
    await engine.seal();
    await fill(engine, 30);
    return { host, engine };
  }

  it("leaves nothing that passes for one, wherever it comes", async () => {
    for (let crash = 1; ; crash++) {
      const { host, engine } = await small(crash);
      const all = await contents(engine);
      host.crashAfter(crash);
      const backed = engine.backup("/backup").then(() => "done");
      const isDone = (await Promise.race([backed, host.whenFrozen()])) === "done";
      const left = host.crash();
      if ((await left.files.stat("/backup")) !== undefined) expect(await shown(left, "/backup")).toEqual(all);
      for (const name of await left.files.list("/")) {
        if (!name.startsWith("backup.unfinished")) continue;
        const code = await codeOf(restoreStore({ from: `/${name}`, to: "/restored", host: left }));
        if (code === "none") expect(await shown(left, "/restored")).toEqual(all);
      }
      if (!isDone) continue;
      expect(await left.files.stat("/backup")).toBeDefined();
      expect(crash).toBeGreaterThan(40);
      break;
    }
  });

  it("or in a restore leaves nothing that passes for a store", async () => {
    for (let crash = 1; ; crash++) {
      const { host, engine } = await small(crash);
      const all = await contents(engine);
      await engine.backup("/backup");
      host.crashAfter(crash);
      const restored = restoreStore({ from: "/backup", to: "/restored", host }).then(() => "done");
      const isDone = (await Promise.race([restored, host.whenFrozen()])) === "done";
      const left = host.crash();
      if ((await left.files.stat("/restored")) !== undefined) expect(await shown(left, "/restored")).toEqual(all);
      if (isDone) break;
    }
  });
});
