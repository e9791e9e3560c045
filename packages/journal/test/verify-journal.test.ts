import { describe, expect, it } from "vitest";
import { verifyJournal } from "@ehdb/journal";
import { codeOf, openAt, stage } from "./drive.ts";
import { batchesIn, built } from "./layout.ts";

const small = { segmentBytes: 1024 * 1024, reserveBytes: 0 };

describe("verifyJournal", () => {
  it("of a whole journal says what it holds, and writes nothing", async () => {
    const { host, last } = await built();
    const { write, create, remove } = host.operations;
    const report = await verifyJournal({ dir: "/j", host });
    expect(report).toMatchObject({ ok: true, records: last, first: 1, last, damage: [], gaps: [] });
    expect(host.operations).toMatchObject({ write, create, remove });
  });

  it("counts what nobody has stated durable, for a recovery will find it", async () => {
    const { host, journal } = await stage(small);
    await journal.appendDurable(Buffer.from("stated"));
    await host.advance(100);
    await journal.appendDurable(Buffer.from("not stated"));
    expect(await verifyJournal({ dir: "/j", host: host.kill() })).toMatchObject({ ok: true, records: 2, last: 2 });
  });

  it("tells of all damage, also when the journal can't be opened any more", async () => {
    const { host, files } = await built();
    const early = batchesIn(host, files[0] as string).find(({ records }) => records > 1);
    const late = batchesIn(host, files.at(-1) as string).find(({ records }) => records > 0);
    if (early === undefined || late === undefined) throw new Error("there are no such batches");
    for (const { file, offset } of [early, late]) host.flipBit(file, offset + 100, 1);
    const report = await verifyJournal({ dir: "/j", host });
    expect(report.ok).toBe(false);
    for (const { file, offset } of [early, late])
      expect(report.damage.filter((one) => one.file === file && one.offset === offset)).toHaveLength(1);
    expect(report.damage).toHaveLength(2);
  });

  it("takes nothing for damage that a writer drops meanwhile", async () => {
    const { host, journal } = await stage(small);
    let working = true;
    const work = (async () => {
      for (let i = 0; i < 300; i++) {
        const sequence = await journal.appendDurable(Buffer.alloc(60_000, i));
        if (i % 20 === 0) await journal.dropBefore(sequence);
      }
      working = false;
    })();
    let looks = 0;
    while (working) {
      expect((await verifyJournal({ dir: "/j", host })).damage).toEqual([]);
      looks++;
    }
    await work;
    expect(looks).toBeGreaterThan(10);
    await journal.close();
  });

  it("is paced by whoever is told how far it is", async () => {
    const { host } = await built();
    const journal = await openAt(host, small);
    let waiting = 0;
    const onProgress = async (): Promise<void> => {
      expect(waiting++).toBe(0);
      await host.clock.yield();
      waiting--;
    };
    await journal.verify({ onProgress });
    await verifyJournal({ dir: "/j", host, onProgress });
    await journal.close();
    expect(await codeOf(() => verifyJournal({ dir: "/none", host }))).toBe("NOT_FOUND");
    expect(await codeOf(() => verifyJournal({ dir: "/j", host, signal: AbortSignal.abort() }))).toBe("ABORTED");
  });
});
