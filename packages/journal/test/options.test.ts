import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import { openJournal, openJournalReader, salvage } from "@ehdb/journal";
import { bytes, KIB, MIB, openAt, refusal } from "./drive.ts";

const GIB = 1024 * MIB;

/** Opens with options as a caller without types may give them. */
const openLoosely = (options: object, host = simulatedHost({ seed: 1 })): Promise<unknown> =>
  openJournal({ dir: "/j", host, ...options });

describe("whole numbers", () => {
  const bounds: Record<string, [least: number, most: number]> = {
    batchBytes: [1, GIB],
    batchRecords: [1, 2 ** 31],
    batchMillis: [1, 60_000],
    segmentBytes: [MIB, 4 * GIB],
    maxInFlightBytes: [MIB, GIB],
    indexStride: [1, 1_048_576],
    reserveBytes: [0, 256 * MIB],
    lockTimeoutMillis: [0, 3_600_000],
  };

  it.each(Object.entries(bounds))("%s takes its bounds, and nothing beyond", async (name, [least, most]) => {
    for (const value of name === "reserveBytes" ? [least, MIB] : [least, most]) {
      const journal = await openAt(simulatedHost({ seed: 1 }), { [name]: value });
      await journal.close();
    }
    for (const value of [least - 1, most + 1, least + 0.5, -1, Number.NaN, Infinity, String(least), null, true, {}]) {
      const error = await refusal(() => openLoosely({ [name]: value }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: name } });
      expect(error.message).toContain(`from ${least} to ${most}`);
    }
  });

  it("a reader's numbers have bounds too", async () => {
    const host = simulatedHost({ seed: 1 });
    await (await openAt(host)).close();
    for (const options of [
      { indexStride: 0 },
      { indexStride: 2 ** 20 + 1 },
      { pollMillis: 0 },
      { pollMillis: 60_001 },
    ]) {
      const error = await refusal(() => openJournalReader({ dir: "/j", host, ...options }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: Object.keys(options)[0] } });
    }
    await (await openJournalReader({ dir: "/j", host, indexStride: 1, pollMillis: 60_000 })).close();
  });
});

describe("choices", () => {
  it.each([
    ["durability", ["sync", "batch", "async"]],
    ["compression", ["none", "deflate"]],
    ["verifyOnOpen", ["tail", "all"]],
    ["blockingSync", [true, false]],
  ])("%s takes what it names, and nothing else", async (name, values) => {
    for (const value of values) await (await openAt(simulatedHost({ seed: 1 }), { [name]: value })).close();
    for (const value of ["SYNC", "", 1, null, {}, []]) {
      const error = await refusal(() => openLoosely({ [name]: value }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: name } });
    }
  });

  it("setDurability refuses what isn't a durability, and keeps the one it has", async () => {
    const journal = await openAt(simulatedHost({ seed: 1 }), { durability: "batch" });
    const error = await refusal(() => journal.setDurability("fast" as "sync"));
    expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: "durability", got: '"fast"' } });
    expect(await refusal(() => journal.setDurability(undefined as never))).toMatchObject({ code: "INVALID_OPTION" });
    expect(journal.durability).toBe("batch");
  });
});

describe("directories", () => {
  it.each(["", "a\0b", 5, null, undefined, {}])("dir %j is refused", async (dir) => {
    const error = await refusal(() => openLoosely({ dir }));
    expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: "dir" } });
  });

  it("salvage wants two different directories", async () => {
    const host = simulatedHost({ seed: 1 });
    for (const to of ["/j", "/j/", "/k/../j", "//j/."]) {
      const error = await refusal(() => salvage({ dir: "/j", to, host }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: "to" } });
    }
    expect(await refusal(() => salvage({ dir: "/j", to: "/k", host, onProgress: 5 as never }))).toMatchObject({
      data: { option: "onProgress" },
    });
  });
});

describe("retention", () => {
  it("takes numbers above 0", async () => {
    await (
      await openAt(simulatedHost({ seed: 1 }), { retention: { maxBytes: 1, maxAgeSeconds: 0.5, maxRecords: 1 } })
    ).close();
    for (const name of ["maxBytes", "maxAgeSeconds", "maxRecords"]) {
      for (const value of [0, -1, Number.NaN, Infinity, "1", null]) {
        const error = await refusal(() => openLoosely({ retention: { [name]: value } }));
        expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: `retention.${name}` } });
      }
    }
    expect(await refusal(() => openLoosely({ retention: 5 }))).toMatchObject({ data: { option: "retention" } });
  });
});

describe("names that aren't options", () => {
  it.each([
    ["durabilty", "durability"],
    ["SegmentBytes", "segmentBytes"],
    ["batchMilis", "batchMillis"],
    ["hots", "host"],
    ["indexstride", "indexStride"],
    ["maxInflightByte", "maxInFlightBytes"],
  ])("%s is taken for %s", async (given, meant) => {
    const error = await refusal(() => openLoosely({ [given]: 1 }));
    expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: given, suggestion: meant } });
    expect(error.message).toContain(`Did you mean ${meant}?`);
  });

  it("are refused inside of retention and encryption, too", async () => {
    expect(await refusal(() => openLoosely({ retention: { maxRecord: 5 } }))).toMatchObject({
      data: { option: "retention.maxRecord", suggestion: "maxRecords" },
    });
    const ring = { current: "a", keys: { a: bytes(32) }, curent: "a" };
    expect(await refusal(() => openLoosely({ encryption: ring }))).toMatchObject({
      data: { option: "encryption.curent", suggestion: "current" },
    });
  });

  it("are refused by the reader and by salvage", async () => {
    const host = simulatedHost({ seed: 1 });
    const reader = await refusal(() => openJournalReader({ dir: "/j", host, polMillis: 5 } as never));
    expect(reader).toMatchObject({ code: "INVALID_OPTION", data: { suggestion: "pollMillis" } });
    const salvaging = await refusal(() => salvage({ dir: "/j", to: "/k", host, onProgres: () => undefined } as never));
    expect(salvaging).toMatchObject({ code: "INVALID_OPTION", data: { suggestion: "onProgress" } });
  });

  it("far from every option get the list", async () => {
    const error = await refusal(() => openLoosely({ completelyDifferent: 1 }));
    expect(error.data["suggestion"]).toBeUndefined();
    expect(error.message).toContain("segmentBytes");
  });

  it("options that aren't an object are refused", async () => {
    for (const options of [undefined, null, "/j", 5]) {
      expect(await refusal(() => openJournal(options as never))).toMatchObject({ code: "INVALID_OPTION" });
    }
  });
});

it("a refused open makes nothing on disk", async () => {
  const host = simulatedHost({ seed: 1 });
  const wrong = [
    { segmentBytes: 1 },
    { durabilty: "sync" },
    { retention: { maxBytes: 0 } },
    { encryption: { current: "a", keys: {} } },
  ];
  for (const options of wrong) await refusal(() => openLoosely(options, host));
  await refusal(() => salvage({ dir: "/j", to: "/k", host, encryption: 5 as never }));
  await refusal(() => openJournalReader({ dir: "/j", host, pollMillis: 0 }));
  await host.settle();
  expect(await host.files.list("/")).toEqual([]);
  expect(host.history.entries.filter((entry) => entry.operation !== "list")).toEqual([]);
});

describe("keys", () => {
  const secret = "c0ffee5ec7e7c0ffee5ec7e7c0ffee5ec7e7c0ffee5ec7e7c0ffee5ec7e7beef";
  const key = Buffer.from(secret, "hex");

  it("are never shown, whatever is wrong with the ring", async () => {
    const anything = fc.oneof(
      fc.constant(secret),
      fc.constant(key),
      fc.constant(key.subarray(0, 31)),
      fc.constant([...key]),
      fc.constant({ keys: { a: secret }, current: "a" }),
      fc.constant({ keys: { [secret]: key }, current: secret }),
      fc.constant({ keys: { a: key.subarray(1) }, current: "a" }),
      fc.constant({ keys: key, current: "a" }),
      fc.constant({ keys: secret, current: "a" }),
      fc.constant({ keys: { a: [...key] }, current: "a" }),
      fc.constant({ keys: { a: key }, current: "b" }),
      fc.constant({ keys: { a: key }, current: "a", secret: key }),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (encryption) => {
        const error = await refusal(() => openLoosely({ encryption }));
        const shown = JSON.stringify(error) + String(error.stack) + String(error.cause);
        expect(error.code).toBe("INVALID_OPTION");
        expect(shown).not.toContain(secret.slice(0, 16));
        expect(shown).not.toContain([...key.subarray(0, 6)].join(","));
      }),
      { numRuns: 60 },
    );
  });

  it("have 32 bytes and ids of 1 to 63 bytes", async () => {
    const longest = "i".repeat(63);
    await (
      await openAt(simulatedHost({ seed: 1 }), { encryption: { current: longest, keys: { [longest]: key } } })
    ).close();
    for (const id of ["", "i".repeat(64), "ä".repeat(32)]) {
      const error = await refusal(() => openLoosely({ encryption: { current: id, keys: { [id]: key } } }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: "encryption.keys" } });
    }
    for (const count of [0, 16, 31, 33]) {
      const error = await refusal(() => openLoosely({ encryption: { current: "a", keys: { a: bytes(count) } } }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: 'encryption.keys["a"]' } });
    }
  });

  it("current must be one of them, by its own name", async () => {
    for (const current of ["b", "toString", "", 5]) {
      const error = await refusal(() => openLoosely({ encryption: { current, keys: { a: key } } }));
      expect(error).toMatchObject({ code: "INVALID_OPTION", data: { option: "encryption.current" } });
    }
  });
});

it("defaults are what they are said to be", async () => {
  const host = simulatedHost({ seed: 1 });
  const journal = await openAt(host);
  expect(journal.durability).toBe("sync");
  const stored = await host.files.stat("/j/space.reserve");
  expect(stored?.bytes).toBe(1024 * KIB);
  await journal.close();
});
