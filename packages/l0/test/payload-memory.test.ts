import { describe, expect, test } from "vitest";
import { PayloadMemory } from "../src/payload-memory.ts";
import { openOn, stage } from "./drive.ts";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("memory of payloads", () => {
  test("is used again from a mark on, and not what was copied before it", () => {
    const memory = new PayloadMemory();
    const before = memory.copy(Buffer.from("before"));
    const { mark } = memory;
    const within = memory.copy(Buffer.from("within"));
    expect([text(before), text(within)]).toEqual(["before", "within"]);
    memory.release(mark);
    memory.copy(Buffer.from("behind"));
    expect([text(before), text(within)]).toEqual(["before", "behind"]);
  });

  test("stays what it is over a new slab, whatever is released of the old one", () => {
    const memory = new PayloadMemory();
    const { mark } = memory;
    const copies = Array.from({ length: 220 }, (_, n) => memory.copy(Buffer.alloc(10_000, n)));
    memory.release(mark);
    const more = Array.from({ length: 20 }, (_, n) => memory.copy(Buffer.alloc(10_000, 230 + n)));
    copies.forEach((copy, n) => expect(copy.every((byte) => byte === n)).toBe(true));
    more.forEach((copy, n) => expect(copy.every((byte) => byte === 230 + n)).toBe(true));
  });

  test("isn't shared by a payload that is large, nor taken for one that is empty", () => {
    const memory = new PayloadMemory();
    expect(memory.copy(Buffer.alloc(100_000)).buffer.byteLength).toBe(100_000);
    expect(memory.copy(Buffer.alloc(0)).length).toBe(0);
    expect(memory.mark).toBe(0);
  });
});

test("commits that wait for what isn't in memory hold what they were given, as do those made within another", async () => {
  const { host, engine: first } = await stage();
  for (const key of ["a", "b"]) await first.commit((batch) => batch.append("events", key, Buffer.from("first")));
  await first.seal();
  await first.close();
  const engine = await openOn(host);
  const scratch = Buffer.alloc(6);
  const commits: Promise<unknown>[] = [];
  const append = (key: string, value: string): void => {
    commits.push(engine.commit((batch) => batch.append("events", key, scratch.fill(value), `${key} ${value}`)));
  };
  for (const value of ["1", "2", "3"]) for (const key of ["a", "b", "new"]) append(key, value);
  const outer = engine.commit((batch) => {
    batch.append("events", "outer", scratch.fill("4"));
    append("within", "5");
    append("a", "6");
    batch.append("events", "outer", scratch.fill("7"));
  });
  await Promise.all([...commits, outer]);
  const found: string[] = [];
  for await (const records of engine.log("events").scan({ from: 3 }))
    found.push(...records.map(({ key, payload }) => `${key} ${text(payload)}`));
  const waited = ["1", "2", "3"].flatMap((value) => ["a", "b", "new"].map((key) => `${key} ${value.repeat(6)}`));
  const last = ["within 555555", "a 666666", "outer 444444", "outer 777777"];
  expect(found).toEqual([...waited, ...last]);
  await engine.close();
});
