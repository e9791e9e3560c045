import { type SimulatedHost, simulatedHost } from "@ehdb/host";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, createText, textAt, textOf } from "./text.ts";

type Step =
  | { do: "write" | "writeAtSync" | "preallocate"; position: number; length: number }
  | { do: "truncate"; bytes: number }
  | { do: "sync"; during: { position: number; length: number }[] };

const range = { position: fc.nat(20_000), length: fc.integer({ min: 1, max: 9_000 }) };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("write" as const, "writeAtSync" as const), ...range }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("preallocate" as const), ...range }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("truncate" as const), bytes: fc.nat(20_000) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant("sync" as const), during: fc.array(fc.record(range), { maxLength: 2 }) }),
    },
  ),
  { minLength: 1, maxLength: 25 },
);

/** The plainest model of a file: every state that it went through, and the one that a sync promised. */
class FileModel {
  readonly states: Uint8Array[] = [new Uint8Array(0)];
  promised = 0;

  get newest(): Uint8Array {
    return this.states[this.states.length - 1] as Uint8Array;
  }

  write(position: number, length: number, value: number): void {
    const next = new Uint8Array(Math.max(this.newest.length, position + length));
    next.set(this.newest);
    next.fill(value, position, position + length);
    this.states.push(next);
  }

  truncate(bytes: number): void {
    const next = new Uint8Array(bytes);
    next.set(this.newest.subarray(0, bytes));
    this.states.push(next);
  }

  /** Each byte must come from the promised state or a later one, and so must the size. */
  check(found: Uint8Array): void {
    const possible = this.states.slice(this.promised);
    const sizes = possible.map((state) => state.length);
    expect(found.length).toBeGreaterThanOrEqual(Math.min(...sizes));
    expect(found.length).toBeLessThanOrEqual(Math.max(...sizes));
    for (let at = 0; at < found.length; at++) {
      let place = 0;
      while (place < possible.length && (possible[place]?.[at] ?? 0) !== found[at]) place++;
      if (place < possible.length) continue;
      expect.fail(`byte ${at} is ${found[at]}; possible: ${possible.map((state) => state[at] ?? 0).join(", ")}`);
    }
  }
}

async function run(host: SimulatedHost, model: FileModel, all: readonly Step[]): Promise<void> {
  const file = await host.files.open("/file", "create");
  await file.dataSync();
  await host.files.syncDirectory("/");
  let value = 0;
  for (const step of all) {
    const filled = (length: number): Uint8Array => new Uint8Array(length).fill((value = (value % 255) + 1));
    if (step.do === "write") await file.write(filled(step.length), step.position);
    else if (step.do === "writeAtSync") file.writeAtSync(filled(step.length), step.position);
    else if (step.do === "preallocate") await file.preallocate(step.position, step.length);
    else if (step.do === "truncate") await file.truncate(step.bytes);
    if (step.do === "truncate") model.truncate(step.bytes);
    else if (step.do === "preallocate") model.write(step.position, step.length, 0);
    else if (step.do !== "sync") model.write(step.position, step.length, value);
    else {
      const promised = model.states.length - 1;
      const synced = file.dataSync();
      for (const { position, length } of step.during) {
        file.writeAtSync(filled(length), position);
        model.write(position, length, value);
      }
      await synced;
      model.promised = promised;
    }
    expect(host.content("/file").length).toBe(model.newest.length);
  }
}

test("what a sync promised survives any crash, byte by byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), steps, async (seed, all) => {
      const host = simulatedHost({ seed, faults: { shortWrite: 0.1, slow: 0.1 } });
      const model = new FileModel();
      await run(host, model, all);
      expect(Buffer.compare(host.content("/file"), model.newest)).toBe(0);
      let next = host.crash();
      model.check(next.content("/file"));
      expect(Buffer.compare(next.durableContent("/file"), next.content("/file"))).toBe(0);
      // And a second crash changes nothing: all that is left is durable.
      const left = next.content("/file");
      next = next.crash();
      expect(Buffer.compare(next.content("/file"), left)).toBe(0);
    }),
    { numRuns: 1500 },
  );
});

test("keep: nothing leaves what was synced, everything leaves all", async () => {
  for (let seed = 0; seed < 30; seed++) {
    for (const keep of ["nothing", "everything"] as const) {
      const host = simulatedHost({ seed });
      await createText(host, "/a", "synced", { content: true, name: true });
      const file = await host.files.open("/a", "write");
      await file.write(bytesOf("UNSYNCED"), 0);
      await createText(host, "/b", "new");
      const next = host.crash(keep);
      expect(await textAt(next, "/a")).toBe(keep === "nothing" ? "synced" : "UNSYNCED");
      expect(await textAt(next, "/b")).toBe(keep === "nothing" ? undefined : "new");
    }
  }
});

test("an unsynced write is torn at the edges of sectors and nowhere else", async () => {
  const keptSectors = new Set<number>();
  let torn = 0;
  for (let seed = 0; seed < 100; seed++) {
    const host = simulatedHost({ seed });
    const file = await host.files.open("/a", "create");
    await file.preallocate(0, 8192);
    await file.dataSync();
    await host.files.syncDirectory("/");
    await file.write(new Uint8Array(4096).fill(1), 256);
    const found = host.crash("sectors").content("/a");
    for (let at = 0; at < found.length; at++) {
      const inWrite = at >= 256 && at < 256 + 4096;
      if (inWrite ? at > 256 && at % 512 !== 0 && found[at] !== found[at - 1] : found[at] !== 0) {
        expect.fail(`byte ${at} is ${found[at]}, the one before it ${found[at - 1]}`);
      }
      if (found[at] === 1) keptSectors.add(Math.floor(at / 512));
    }
    torn += host.statistics.tornWrites;
  }
  expect([...keptSectors].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(torn).toBeGreaterThan(50);
});

test("keep: prefix keeps every write before some moment and none after it", async () => {
  const lengths = new Set<number>();
  for (let seed = 0; seed < 60; seed++) {
    const host = simulatedHost({ seed });
    const file = await host.files.open("/a", "create");
    await file.preallocate(0, 10 * 512);
    await file.dataSync();
    await host.files.syncDirectory("/");
    for (let sector = 0; sector < 10; sector++) await file.write(new Uint8Array(512).fill(1), sector * 512);
    const found = host.crash("prefix").content("/a");
    const kept = Array.from({ length: 10 }, (_, sector) => found[sector * 512]);
    expect(kept).toEqual([...kept].sort().reverse());
    lengths.add(kept.filter((byte) => byte === 1).length);
  }
  expect(lengths.size).toBeGreaterThan(5);
});

test("content may survive without its name, and a name without its content", async () => {
  const found = new Set<string | undefined>();
  for (let seed = 0; seed < 200; seed++) {
    const synced = simulatedHost({ seed });
    await createText(synced, "/a", "content", { content: true });
    const left = await textAt(synced.crash(), "/a");
    expect([undefined, "content"]).toContain(left);
    found.add(left);

    const named = simulatedHost({ seed });
    await createText(named, "/a", "content", { name: true });
    const next = named.crash();
    expect(await next.files.list("/")).toEqual(["a"]);
    found.add(textOf(next.content("/a")));
  }
  // The size may survive without the bytes, which are zeros then.
  expect([...found].map((text) => text?.replaceAll("\0", ""))).toEqual(
    expect.arrayContaining([undefined, "", "content"]),
  );
  expect([...found].every((text) => text === undefined || text === "content" || /^\0{0,7}$/.test(text))).toBe(true);
});

test("unsynced operations on names are lost in arbitrary subsets, synced ones never", async () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 300; seed++) {
    const host = simulatedHost({ seed });
    const { files } = host;
    await files.makeDirectory("/d");
    await files.makeDirectory("/e");
    for (const name of ["removed", "renamed", "linked", "kept"]) await createText(host, `/d/${name}`, name);
    await files.syncDirectory("/d");
    await createText(host, "/d/created", "created");
    await files.remove("/d/removed");
    await files.rename("/d/renamed", "/e/moved");
    await files.link("/d/linked", "/d/link");
    const next = host.crash("sectors");
    const names = [...(await next.files.list("/d")), ...(await next.files.list("/e"))];
    expect(names).toContain("kept");
    expect(names).toContain("linked");
    // A rename happens or doesn't, even between two directories.
    expect(names.includes("renamed")).toBe(!names.includes("moved"));
    outcomes.add(names.filter((name) => name !== "kept" && name !== "linked").join());
  }
  expect(outcomes.size).toBe(16);
});

test("syncDirectory makes what happened to names durable", async () => {
  for (let seed = 0; seed < 100; seed++) {
    const host = simulatedHost({ seed });
    const { files } = host;
    await files.makeDirectory("/d/e");
    await createText(host, "/d/a", "a");
    await createText(host, "/d/b", "b");
    await createText(host, "/d/c", "c");
    await files.syncDirectory("/d");
    await files.rename("/d/a", "/d/e/a");
    await files.remove("/d/b");
    await files.link("/d/c", "/d/f");
    await files.removeDirectory("/d/e").catch(() => undefined);
    await files.syncDirectory("/d");
    const next = host.crash();
    expect(await next.files.list("/d")).toEqual(["c", "e", "f"]);
    expect(await next.files.list("/d/e")).toEqual(["a"]);
  }
});

test("a chain of operations on one name is never kept with a hole in it", async () => {
  const found = new Set<string | undefined>();
  for (let seed = 0; seed < 200; seed++) {
    const host = simulatedHost({ seed });
    await createText(host, "/a", "first", { content: true, name: true });
    await createText(host, "/t1", "second", { content: true });
    await host.files.rename("/t1", "/a");
    await createText(host, "/t2", "third", { content: true });
    await host.files.rename("/t2", "/a");
    const next = host.crash();
    found.add(await textAt(next, "/a"));
  }
  expect([...found].sort()).toEqual(["first", "second", "third"]);
});

test("a sync covers what was written before it was issued; later writes only perhaps", async () => {
  let covered = 0;
  for (let seed = 0; seed < 100; seed++) {
    const host = simulatedHost({ seed });
    const file = await host.files.open("/a", "create");
    await host.files.syncDirectory("/");
    file.writeAtSync(bytesOf("before"), 0);
    const synced = file.dataSync();
    file.writeAtSync(bytesOf("later"), 4096);
    await synced;
    const durable = host.durableContent("/a");
    expect(textOf(durable.subarray(0, 6))).toBe("before");
    if (textOf(durable.subarray(4096)) === "later") covered++;
  }
  expect(covered).toBeGreaterThan(10);
  expect(covered).toBeLessThan(90);
});

test("operations under way at a crash happen or don't", async () => {
  const found = new Set<string | undefined>();
  for (let seed = 0; seed < 60; seed++) {
    const host = simulatedHost({ seed });
    const file = await host.files.open("/a", "create");
    await host.files.syncDirectory("/");
    void file.write(bytesOf("x"), 0);
    void host.files.rename("/a", "/b");
    const next = host.crash("everything");
    const [name = ""] = await next.files.list("/");
    found.add(name + ((await textAt(next, `/${name}`)) ?? ""));
  }
  expect([...found].sort()).toEqual(["a", "ax", "b", "bx"]);
});
