import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  copyAndWrite,
  copyLoop,
  groupCommit,
  groupCommitTwice,
  readAndVerify,
  readPoints,
  readPointsBlocking,
  writeAndSync,
  zeroFilled,
} from "../src/floors.ts";
import { seededPayloads } from "../src/index.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "floors-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const records = seededPayloads(5, 30);
const path = () => join(directory, "floor");

describe("floors do their work", () => {
  it("zeros fill the whole file", async () => {
    await zeroFilled(path(), 1_500_000);
    expect(readFileSync(path()).equals(Buffer.alloc(1_500_000))).toBe(true);
  });

  it("one at a time writes every byte, in order", async () => {
    const { millis, perSecond } = await writeAndSync(path(), records, 45);
    expect(millis).toHaveLength(45);
    expect(Math.min(...millis)).toBeGreaterThan(0);
    expect(perSecond).toBeGreaterThan(0);
    expect(readFileSync(path()).equals(Buffer.concat([...records, ...records.slice(0, 15)]))).toBe(true);
  });

  it("group commit writes every byte, in order, whatever is in flight", async () => {
    for (const inFlight of [1, 8, 64]) {
      const { millis } = await groupCommit(path(), records, 100, inFlight);
      expect(millis.every((each) => each > 0)).toBe(true);
      const expected = Buffer.concat([...records, ...records, ...records, ...records.slice(0, 10)]);
      expect(readFileSync(path()).equals(expected)).toBe(true);
    }
  });

  it("group commit that writes twice has every byte in two files, in pieces", async () => {
    const encode = (index: number): Uint8Array => records[index % records.length] as Uint8Array;
    await groupCommitTwice(path(), records, 300, 8, 8192, encode);
    const [first, ...pieces] = readdirSync(directory)
      .sort((a, b) => Number(a.slice("floor.".length)) - Number(b.slice("floor.".length)))
      .map((name) => readFileSync(join(directory, name)));
    expect(first?.equals(Buffer.concat(Array.from({ length: 10 }, () => records).flat()))).toBe(true);
    expect(pieces.length).toBeGreaterThan(8);
    for (const piece of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThanOrEqual(8192);
    expect(Buffer.concat(pieces).equals(first as Buffer)).toBe(true);
  });

  it("copying goes over every record, a length before each", async () => {
    const { nanosPerCall } = copyLoop(records, 1000, 64);
    expect(nanosPerCall).toHaveLength(15);
    await copyAndWrite(path(), records, 2000);
    const written = readFileSync(path());
    let at = 0;
    for (let i = 0; i < 2000; i++) {
      const record = records[i % records.length] as Uint8Array;
      expect(written.readUInt32LE(at)).toBe(record.length);
      at += 4 + record.length;
    }
    expect(written).toHaveLength(at);
  });

  it("reading goes over every byte and notices one that differs", async () => {
    writeFileSync(path(), Buffer.concat(records));
    const proof = await readAndVerify([path(), path()]);
    expect(proof.count).toBe(2 * statSync(path()).size);
    const damaged = Buffer.concat(records);
    damaged[100] = (damaged[100] as number) ^ 1;
    writeFileSync(path(), damaged);
    await expect(readAndVerify([path(), path()], proof)).rejects.toThrow(/digest/);
  });

  it("point reads read at every position", async () => {
    writeFileSync(path(), Buffer.concat(records));
    expect(await readPoints(path(), [0, 400, 8000], 400)).toHaveLength(3);
    expect(readPointsBlocking(path(), [0, 400, 8000], 400)).toHaveLength(3);
  });
});
