import { describe, expect, it } from "vitest";
import { isEhdbError } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { verifyStore } from "@ehdb/l0";
import { built, dir, fill, manifestFiles, openOn, partFiles, rewrite, segmentFiles } from "./drive.ts";

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return "none";
  } catch (error) {
    return isEhdbError(error) ? error.code : String(error);
  }
};

describe("verifyStore", () => {
  it("of a whole store says so, counts what it looked at, and how far it is", async () => {
    const { host } = await built();
    const steps: [number, number][] = [];
    const report = await verifyStore({ dir, host, onProgress: (done, total) => steps.push([done, total]) });
    expect(report).toMatchObject({ ok: true, damage: [], parts: 6 });
    expect(report.manifests).toBeGreaterThan(1);
    expect(report.segments).toBeGreaterThan(0);
    expect(report.blocks).toBeGreaterThan(50);
    expect(report.commits).toBeGreaterThanOrEqual(100);
    expect(new Set(steps.map(([, total]) => total)).size).toBe(1);
    expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).sort((a, b) => a - b));
    expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
  });

  it("changes nothing on the disk", async () => {
    const { host } = await built();
    const before = { ...host.operations };
    await verifyStore({ dir, host });
    for (const kind of ["create", "write", "rename", "remove", "dataSync", "makeDirectory", "truncate"] as const)
      expect(host.operations[kind], kind).toBe(before[kind]);
  });

  it("names file, block and dataset of a flipped bit in each kind of file, and is whole again without it", async () => {
    const { host } = await built();
    const [manifest = "", inForce = ""] = await manifestFiles(host);
    const places: [string, string, number][] = [
      ["part", (await partFiles(host))[0] ?? "", 9000],
      ["part", (await partFiles(host))[1] ?? "", 30],
      ["part", (await partFiles(host))[2] ?? "", host.content((await partFiles(host))[2] ?? "").length - 40],
      ["journal", (await segmentFiles(host))[0] ?? "", 8000],
      ["journal", (await segmentFiles(host)).at(-1) ?? "", 20],
      ["manifest", manifest, 200],
      ["manifest", inForce, 200],
      ["manifest", `${dir}/CURRENT`, 20],
    ];
    for (const [kind, file, offset] of places) {
      host.flipBit(file, offset, 3);
      const report = await verifyStore({ dir, host });
      expect(report.ok, file).toBe(false);
      expect(report.damage[0], file).toMatchObject({ kind, file });
      expect(report.damage[0]?.offset, file).toBeLessThanOrEqual(offset);
      host.flipBit(file, offset, 3);
    }
    expect(await verifyStore({ dir, host })).toMatchObject({ ok: true, damage: [] });
  });

  it("finds a part that is missing, of another size, or another one under its name", async () => {
    const { host } = await built();
    const [one = "", other = ""] = await partFiles(host);
    const bytes = Buffer.from(host.content(one));
    await rewrite(host, one, (before) => before.subarray(0, before.length - 1));
    expect((await verifyStore({ dir, host })).damage).toMatchObject([{ kind: "part", file: one, dataset: "events" }]);
    await rewrite(host, one, () => Buffer.from(host.content(other)));
    expect((await verifyStore({ dir, host })).damage).toMatchObject([{ kind: "part", file: one, offset: 16 }]);
    await host.files.remove(one);
    expect((await verifyStore({ dir, host })).damage).toMatchObject([{ file: one, reason: "the file is missing" }]);
    const file = await host.files.open(one, "create");
    await file.write(bytes, 0);
    await file.close();
    expect((await verifyStore({ dir, host })).ok).toBe(true);
  });

  it("finds a manifest that is behind the journal, and a journal that is behind the manifest", async () => {
    const { host } = await built();
    const journals = await segmentFiles(host);
    const contents = journals.map((path) => Buffer.from(host.content(path)));
    for (const path of journals) await host.files.remove(path);
    expect((await verifyStore({ dir, host })).damage).toMatchObject([
      { kind: "journal", file: `${dir}/journal`, firstRevision: 1, lastRevision: 1200 },
    ]);
    for (const [place, path] of journals.entries()) {
      const file = await host.files.open(path, "create");
      await file.write(contents[place] as Buffer, 0);
      await file.close();
    }
    // Without its last edit the manifest says what was sealed before.
    const inForce = (await manifestFiles(host)).at(-1) as string;
    await rewrite(host, inForce, (bytes) => bytes.subarray(0, bytes.length - 20));
    expect((await verifyStore({ dir, host })).damage).toMatchObject([
      { kind: "manifest", file: inForce, firstRevision: 901, lastRevision: 1200 },
    ]);
  });

  it("takes nothing for damage that a writer changes meanwhile", async () => {
    const { host } = await built();
    const engine = await openOn(host, { sealMaxCommits: 20, manifestRetain: 1 });
    let working = true;
    const work = (async () => {
      for (let life = 0; life < 120; life++) {
        await fill(engine, engine.heads.accepted + 30);
        await engine.seal();
        if (life % 4 === 0) await engine.merge();
      }
      working = false;
    })();
    let looks = 0;
    while (working) {
      expect((await verifyStore({ dir, host })).damage).toEqual([]);
      looks++;
    }
    await work;
    expect(looks).toBeGreaterThan(3);
    await engine.close();
  });

  it("reads what a merge has put in place of a part before that was read", async () => {
    const { host } = await built();
    const { parts, blocks } = await verifyStore({ dir, host });
    const engine = await openOn(host);
    let hasMerged = false;
    const open: Host["files"]["open"] = async (path, mode) => {
      if (!hasMerged && path.startsWith(`${dir}/parts/`)) {
        hasMerged = true;
        await engine.merge();
      }
      return await host.files.open(path, mode);
    };
    const files = new Proxy(host.files, {
      get: (target, name): unknown => {
        const value: unknown = name === "open" ? open : Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const { clock, random, workers } = host;
    const report = await verifyStore({ dir, host: { files, clock, random, workers } });
    expect(report).toMatchObject({ ok: true, parts: 2 });
    expect(parts).toBeGreaterThan(2);
    expect(report.blocks).toBeGreaterThan(blocks / 2);
    await engine.close();
  });

  it("is refused where there is no store, and stops by its signal", async () => {
    const { host } = await built();
    expect(await codeOf(verifyStore({ dir: "/nothing", host }))).toBe("NOT_FOUND");
    expect(await codeOf(verifyStore({ dir: "", host }))).toBe("INVALID_OPTION");
    const stop = new AbortController();
    const verifying = verifyStore({ dir, host, signal: stop.signal, onProgress: () => stop.abort() });
    expect(await codeOf(verifying)).toBe("ABORTED");
  });

  it("of an encrypted store needs the key", async () => {
    const encryption = { current: "a", keys: { a: new Uint8Array(32).fill(7) } };
    const { host } = await built({ encryption });
    expect(await verifyStore({ dir, host, encryption })).toMatchObject({ ok: true });
    expect(await codeOf(verifyStore({ dir, host }))).toBe("KEY_MISSING");
    const wrong = { current: "a", keys: { a: new Uint8Array(32).fill(8) } };
    expect(await codeOf(verifyStore({ dir, host, encryption: wrong }))).toBe("WRONG_KEY");
  });
});

describe("an open engine", () => {
  it("verifies itself, commits meanwhile, and counts what is damaged", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    const verifying = engine.verify();
    await fill(engine, 1400);
    expect(await verifying).toMatchObject({ ok: true, parts: 6 });
    expect(engine.stats().scrub_damage).toBe(0);
    host.flipBit((await partFiles(host))[0] ?? "", 9000, 1);
    expect(await engine.verify()).toMatchObject({ ok: false, damage: [{ kind: "part", dataset: "events" }] });
    const scrubbing = engine.scrub();
    await host.advance(60_000);
    expect((await scrubbing).ok).toBe(false);
    expect(engine.stats().scrub_damage).toBe(2);
    await engine.close();
    expect(await codeOf(engine.verify())).toBe("CLOSED");
  });

  it("scrubs at the pace that it's given, by the host's clock", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    const begun = host.clock.monotonic();
    let total = 0;
    let done = false;
    const scrubbing = engine
      .scrub({ bytesPerSecond: 100_000, onProgress: (_done, totalBytes) => (total = totalBytes) })
      .finally(() => (done = true));
    while (!done) await host.advance(100);
    expect(await scrubbing).toMatchObject({ ok: true });
    const seconds = (host.clock.monotonic() - begun) / 1000;
    expect(seconds).toBeGreaterThan(total / 100_000);
    expect(seconds).toBeLessThan((3 * total) / 100_000);
    await engine.close();
  });

  it("ends a scrub by its signal and by a close, while it waits", async () => {
    const { host } = await built();
    const engine = await openOn(host);
    const stop = new AbortController();
    const aborted = codeOf(engine.scrub({ bytesPerSecond: 4096, signal: stop.signal }));
    await host.advance(500);
    stop.abort();
    expect(await aborted).toBe("ABORTED");
    const closed = codeOf(engine.scrub({ bytesPerSecond: 4096 }));
    await host.advance(500);
    await engine.close();
    await host.advance(10_000_000);
    expect(await closed).toBe("CLOSED");
    expect(await codeOf(simulatedEngineScrub())).toBe("INVALID_OPTION");
  });
});

async function simulatedEngineScrub(): Promise<void> {
  const engine = await openOn(simulatedHost({ seed: 2 }));
  try {
    await engine.scrub({ bytesPerSecond: 0 });
  } finally {
    await engine.close();
  }
}
