import { describe, expect, it } from "vitest";
import type { File, Host } from "@ehdb/host";
import { salvage, verifyJournal } from "@ehdb/journal";
import { stage } from "./drive.ts";
import { layout } from "./layout.ts";
import type { PlacedBatch } from "./layout.ts";

/** The same machine, which counts the bytes that are read. */
function counting({ files, clock, random, workers }: Host): { readonly host: Host; readonly read: () => number } {
  let total = 0;
  const open: Host["files"]["open"] = async (path, mode) => {
    const file = await files.open(path, mode);
    const read: File["read"] = async (into, position) => {
      const bytes = await file.read(into, position);
      total += bytes;
      return bytes;
    };
    return other(file, { read });
  };
  return { host: { files: other(files, { open }), clock, random, workers }, read: () => total };
}

/** An object with some methods replaced; the rest are called on itself. */
function other<T extends object>(one: T, methods: Partial<T>): T {
  return new Proxy(one, {
    get: (_, name) => {
      const value: unknown = Reflect.get(name in methods ? methods : one, name, name in methods ? methods : one);
      return typeof value === "function" ? (value.bind(one) as unknown) : value;
    },
  });
}

describe("a journal of many small batches", () => {
  const many = async (
    damaged: (batch: PlacedBatch, place: number) => boolean,
  ): Promise<{ host: Host; read: () => number; bytes: number; flips: number }> => {
    const { host, journal } = await stage({ segmentBytes: 4 * 1024 * 1024, reserveBytes: 0 });
    for (let n = 0; n < 3000; n++) await journal.appendDurable(Buffer.alloc(300, n));
    await journal.close();
    const batches = await layout(host);
    const flipped = batches.filter((batch, place) => batch.records > 0 && damaged(batch, place));
    for (const { file, offset } of flipped) host.flipBit(file, offset + 70, 1);
    const bytes = batches.reduce((sum, batch) => sum + batch.bytes, 0);
    return { ...counting(host), bytes, flips: flipped.length };
  };

  it("is read a few times at most, wherever it's damaged", async () => {
    const { host, read, bytes, flips } = await many((_, place) => place % 2 === 1);
    const { damage } = await verifyJournal({ dir: "/j", host });
    expect(damage.length).toBeGreaterThanOrEqual(flips);
    expect(read() / bytes).toBeLessThan(30);
    const before = read();
    const { records, lost } = await salvage({ dir: "/j", to: "/k", host });
    expect([records, lost.length]).toEqual([3000 - flips, flips]);
    expect((read() - before) / bytes).toBeLessThan(30);
  });
});
