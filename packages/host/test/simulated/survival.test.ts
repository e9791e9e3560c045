import { simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { bytesOf, createText, textAt, textOf } from "./text.ts";

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

test("a name that moved twice is in one of its places", async () => {
  const found = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const host = simulatedHost({ seed });
    await createText(host, "/a", "text", { content: true, name: true });
    await host.files.rename("/a", "/b");
    await host.files.rename("/b", "/c");
    found.add((await host.crash("sectors").files.list("/")).join());
  }
  expect([...found].sort()).toEqual(["a", "b", "c"]);
});

test("a sync of a directory makes durable what its names came from", async () => {
  const host = simulatedHost({ seed: 1 });
  for (const directory of ["/d", "/e", "/f"]) await host.files.makeDirectory(directory);
  await createText(host, "/d/a", "text", { content: true, name: true });
  await host.files.rename("/d/a", "/e/b");
  await host.files.rename("/e/b", "/f/c");
  await host.files.syncDirectory("/f");
  const { files } = host.crash("nothing");
  expect([await files.list("/d"), await files.list("/e"), await files.list("/f")]).toEqual([[], [], ["c"]]);
});

test("an unsynced truncation is kept with its zeros, before what was written after it, or not at all", async () => {
  const found = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const host = simulatedHost({ seed });
    await createText(host, "/a", "a".repeat(1000), { content: true, name: true });
    const file = await host.files.open("/a", "write");
    await file.truncate(100);
    await file.write(bytesOf("b"), 400);
    const text = textOf(host.crash("sectors").content("/a"));
    found.add(
      text
        .replace(/a+/, ({ length }) => `${length}a`)
        .replace(/\0+$/, "")
        .replace(/\0+/, "+"),
    );
  }
  expect([...found].sort()).toEqual(["1000a", "100a", "100a+b"]);
});
