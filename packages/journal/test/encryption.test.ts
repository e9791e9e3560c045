import { describe, expect, it } from "vitest";
import { openJournalReader } from "@ehdb/journal";
import type { KeyRing } from "@ehdb/journal";
import {
  bytes,
  codeOf,
  collect,
  contents,
  fill,
  KIB,
  MIB,
  noise,
  openAt,
  range,
  refusal,
  segmentFiles,
  sequencesOf,
  stage,
} from "./drive.ts";

const keyA = noise(32, 1);
const keyB = noise(32, 2);
const onlyA: KeyRing = { current: "a", keys: { a: keyA } };
const rotated: KeyRing = { current: "b", keys: { a: keyA, b: keyB } };

const text = Buffer.from("a sentence that would be seen on the disk ".repeat(20));

describe("an encrypted journal", () => {
  it("gives back what it was given, over rolls and reopenings, and a copy of it is nowhere on the disk", async () => {
    const { host, journal } = await stage({ encryption: onlyA, segmentBytes: MIB, reserveBytes: 0 });
    await journal.appendAllDurable([text, bytes(0), text]);
    await fill(journal, 25, 100 * KIB);
    for (const data of (await contents(host)).values()) expect(data.includes("seen on the disk")).toBe(false);
    await journal.close();
    const again = await openAt(host, { encryption: onlyA, verifyOnOpen: "all" });
    expect(await sequencesOf(again.scan())).toEqual(range(1, 28));
    expect(Buffer.compare((await again.read(3)).data, text)).toBe(0);
    expect((await again.verify()).ok).toBe(true);
    await again.close();
  });

  it("is recovered after a power loss, copies included", async () => {
    for (const seed of range(1, 8)) {
      const { host, journal } = await stage({ encryption: onlyA }, seed);
      await fill(journal, 3, 500);
      const next = await openAt(host.crash("everything"), { encryption: onlyA });
      expect(next.recovery.recordsCopied).toBeGreaterThan(0);
      expect((await collect(next.scan())).map(({ sequence, data }) => [sequence, data[0]])).toEqual([
        [1, 1],
        [2, 2],
        [3, 3],
      ]);
      await next.close();
    }
  });

  it("is read by whoever has its keys, and no current one", async () => {
    const { host, journal } = await stage({ encryption: rotated });
    await fill(journal, 3, 500);
    await journal.close();
    const reader = await openJournalReader({ dir: "/j", host, encryption: { keys: { b: keyB } } });
    expect(await sequencesOf(reader.scan())).toEqual(range(1, 3));
    await reader.close();
    const open = (encryption: object): Promise<unknown> => openJournalReader({ dir: "/j", host, encryption } as never);
    expect(await codeOf(() => open({ keys: { a: keyA } }))).toBe("KEY_MISSING");
    expect(await codeOf(() => open({ keys: { b: keyA } }))).toBe("WRONG_KEY");
    expect(await codeOf(() => open({ current: "a", keys: { b: keyB } }))).toBe("INVALID_OPTION");
    expect(await codeOf(() => openAt(host, { encryption: { keys: { b: keyB } } as never }))).toBe("INVALID_OPTION");
  });

  it("the same record twice is never the same bytes", async () => {
    const { host, journal } = await stage({ encryption: onlyA });
    await journal.appendDurable(text);
    await journal.appendDurable(text);
    const data = Buffer.from(host.content((await segmentFiles(host))[0] as string));
    // A batch: 64 bytes of header, 2 of length, the text, 16 of tag, padded to 8.
    const bodies = [0, 1].map((place) => {
      const at = 4096 + 120 + place * Math.ceil((64 + 2 + text.length + 16) / 8) * 8 + 64;
      return data.subarray(at, at + 2 + text.length);
    });
    const pieces = bodies.flatMap((body) =>
      range(0, Math.floor(body.length / 16) - 1).map((i) => body.toString("hex", i * 16, i * 16 + 16)),
    );
    expect(pieces.length).toBeGreaterThan(90);
    expect(new Set(pieces).size).toBe(pieces.length);
    await journal.close();
  });
});

describe("rotation", () => {
  it("writes with the new key and reads what the old one wrote, until that is dropped", async () => {
    const { host, journal } = await stage({ encryption: onlyA, segmentBytes: MIB, reserveBytes: 0 });
    await fill(journal, 25, 100 * KIB);
    await journal.close();
    const next = await openAt(host, { encryption: rotated, segmentBytes: MIB });
    await fill(next, 12, 100 * KIB);
    expect((await collect(next.scan())).every(({ sequence, data }) => data[0] === sequence)).toBe(true);
    await next.close();
    const onlyB = { current: "b", keys: { b: keyB } };
    expect(await refusal(() => openAt(host, { encryption: onlyB }))).toMatchObject({
      code: "KEY_MISSING",
      data: { keyId: "a" },
    });
    const third = await openAt(host, { encryption: rotated });
    await third.dropBefore(26);
    await third.close();
    const fourth = await openAt(host, { encryption: onlyB });
    expect(await sequencesOf(fourth.scan())).toEqual(range(26, 37));
    await fourth.close();
  });

  it("goes from plain to encrypted and back", async () => {
    const { host, journal } = await stage();
    await fill(journal, 3, 100);
    await journal.close();
    const encrypted = await openAt(host, { encryption: onlyA });
    await fill(encrypted, 3, 100);
    await encrypted.close();
    const plain = await openAt(host, { encryption: { ...onlyA } });
    expect(await sequencesOf(plain.scan())).toEqual(range(1, 6));
    await plain.close();
    expect(await codeOf(() => openAt(host))).toBe("KEY_MISSING");
  });
});

describe("without the right key", () => {
  it.each([
    ["no ring", undefined, "KEY_MISSING"],
    ["a ring without it", { current: "b", keys: { b: keyB } }, "KEY_MISSING"],
    ["another key under its name", { current: "a", keys: { a: keyB } }, "WRONG_KEY"],
  ] as const)("%s: an open is refused, and not a byte is changed", async (_, encryption, code) => {
    const { host, journal } = await stage({ encryption: onlyA });
    await fill(journal, 5, 1000);
    const after = host.crash("everything");
    const before = await contents(after);
    const options = encryption === undefined ? {} : { encryption };
    const error = await refusal(() => openAt(after, options));
    expect(error).toMatchObject({ code, kind: "fix-the-call", data: { keyId: "a" } });
    const left = await contents(after);
    left.delete("LOCK");
    before.delete("LOCK");
    expect(left).toEqual(before);
    expect(await codeOf(() => openJournalReader({ dir: "/j", host: after, ...options }))).toBe(code);
    const right = await openAt(after, { encryption: onlyA });
    expect(right.last).toBe(5);
    await right.close();
  });

  it("rot is told apart from a wrong key", async () => {
    const { host, journal } = await stage({ encryption: onlyA });
    await fill(journal, 5, 1000);
    await journal.close();
    const path = (await segmentFiles(host))[0] as string;
    host.flipBit(path, 4096 + 120 + 64 + 500, 5);
    expect(await refusal(() => openAt(host, { encryption: onlyA }))).toMatchObject({
      code: "CORRUPT",
      data: { file: path, first: 1 },
    });
    expect(await codeOf(() => openAt(host, { encryption: { current: "a", keys: { a: keyB } } }))).toBe("WRONG_KEY");
  });

  it("the master key isn't what is stored to check it", async () => {
    const { host, journal } = await stage({ encryption: onlyA });
    await fill(journal, 3, 100);
    await journal.close();
    for (const data of (await contents(host)).values())
      expect(data.includes(Buffer.from(keyA).toString("latin1"))).toBe(false);
  });
});
