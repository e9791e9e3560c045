import { describe, expect, it } from "vitest";
import { KIB } from "@ehdb/contracts";
import { inspectStore } from "@ehdb/l0";
import { built, dir, fill, openOn, partFiles } from "./drive.ts";

describe("inspectStore", () => {
  it("tells what is there: names, datasets by level, manifests, journal, disk", async () => {
    const { host, commits } = await built();
    const facts = await inspectStore({ dir, host });
    expect(facts).toMatchObject({ dir, sealedThrough: 1200, epoch: 2, unnamed: [] });
    expect(facts.datasets).toMatchObject([
      {
        id: 1,
        name: "events",
        order: "by-sort",
        parts: 3,
        records: 1200,
        firstPosition: 1,
        nextPosition: 1201,
        lastRevision: 1200,
        levels: [
          { level: 0, parts: 2, records: 600 },
          { level: 1, parts: 1, records: 600 },
        ],
      },
      { id: 2, name: "state", order: "by-key", parts: 3, firstPosition: 0, nextPosition: 0 },
    ]);
    expect(facts.journal).toMatchObject({ last: commits, problem: undefined });
    expect(facts.journal.first).toBeLessThanOrEqual(1201);
    expect(facts.manifests.filter(({ isInForce }) => isInForce)).toHaveLength(1);
    let bytes = 0;
    for (const file of await partFiles(host)) bytes += host.content(file).length;
    expect(facts.disk.parts).toBe(bytes);
    const { total, unnamed, ...kinds } = facts.disk;
    expect(unnamed).toBe(0);
    expect(total).toBe(kinds.parts + kinds.journal + kinds.manifests + kinds.reserve + 55);
    expect(JSON.parse(JSON.stringify(facts))).toMatchObject({ storeId: facts.storeId });
    const engine = await openOn(host);
    expect(engine.storeId).toBe(facts.storeId);
    await engine.close();
  });

  it("lists the files that nothing names", async () => {
    const { host } = await built();
    const names = ["parts/000000000099.part", "CURRENT.4f.tmp", "notes.txt", "journal/0000000000000077.segment.aa.tmp"];
    for (const name of names) {
      const file = await host.files.open(`${dir}/${name}`, "create");
      await file.write(Buffer.alloc(10), 0);
      await file.close();
    }
    const { unnamed, disk } = await inspectStore({ dir, host });
    expect(unnamed.map(({ file }) => file).sort()).toEqual(names.map((name) => `${dir}/${name}`).sort());
    expect(disk.unnamed).toBe(40);
  });

  it("tells one moment beside a writer that seals: no commit is missing between parts and journal, and no part", async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { host } = await built({}, seed);
      const engine = await openOn(host, { sealMaxBytes: 64 * KIB });
      let isWriting = true;
      const write = async (): Promise<void> => {
        for (let upTo = 1350; upTo <= 2500; upTo += 50) {
          await fill(engine, upTo);
          await engine.seal();
        }
        isWriting = false;
      };
      const look = async (): Promise<void> => {
        while (isWriting) {
          const { sealedThrough, journal, disk, datasets } = await inspectStore({ dir, host });
          expect(journal.first).toBeLessThanOrEqual(sealedThrough + 1);
          expect(disk.parts).toBe(datasets.reduce((sum, { bytes }) => sum + bytes, 0));
        }
      };
      await Promise.all([write(), look()]);
      await engine.close();
    }
  });

  it("works beside a writer, and without a key but for the journal", async () => {
    const encryption = { current: "a", keys: { a: new Uint8Array(32).fill(7) } };
    const { host } = await built({ encryption });
    const engine = await openOn(host, { encryption });
    const working = fill(engine, 2000);
    expect(await inspectStore({ dir, host, encryption })).toMatchObject({ journal: { problem: undefined } });
    await working;
    const { journal, datasets } = await inspectStore({ dir, host });
    expect(journal).toMatchObject({ problem: "KEY_MISSING", first: undefined });
    expect(datasets).toHaveLength(2);
    await engine.close();
    await expect(inspectStore({ dir: "/nothing", host })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
