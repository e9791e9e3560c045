import { describe, expect, it } from "vitest";
import { EhdbError } from "@ehdb/contracts";
import { encodeEntry } from "../src/manifest/format.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import type { Manifest } from "../src/manifest/manifest.ts";
import type { ManifestEdit } from "../src/meta.ts";
import {
  begunOn,
  codeOf,
  dir,
  errorOf,
  file,
  log,
  machine,
  map,
  merge,
  openOn,
  padded,
  part,
  plainOf,
  seal,
  touch,
} from "./manifest/drive.ts";

describe("a new store", () => {
  it("has names of its own, and is there once it has begun", async () => {
    const host = machine();
    expect(await codeOf(readManifest({ host, dir }))).toBe("NOT_FOUND");
    const manifest = await openOn(host);
    expect(manifest.isNew).toBe(true);
    expect(manifest.id).toBe(0);
    expect(await host.files.stat(dir)).toBeUndefined();
    expect(await codeOf(manifest.append({}))).toBe("UNEXPECTED");
    await manifest.begin({ datasets: [log(1), map] });
    expect(await host.files.list(dir)).toEqual(["CURRENT", "manifest-000000000001"]);
    const { state, id } = await readManifest({ host: host.crash("nothing"), dir });
    expect(id).toBe(1);
    expect(state).toMatchObject({ epoch: 1, sealedThrough: 0, time: 0, nextPartId: 1, edits: 1 });
    expect(state.store).toMatch(/^[0-9a-f]{32}$/);
    expect(state.incarnation).toMatch(/^[0-9a-f]{32}$/);
    expect([...state.datasets.values()]).toEqual([log(1), map]);
  });
});

describe("an edit", () => {
  it("is durable, and in the state, when its promise resolves and not before", async () => {
    const host = machine();
    const manifest = await begunOn(host);
    const edit = seal(manifest);
    const sync = host.hold(["dataSync"]);
    const appended = manifest.append(edit);
    await host.settle();
    expect(manifest.state.parts.size).toBe(0);
    sync.release();
    await appended;
    expect(manifest.state.sealedThrough).toBe(10);
    const { state } = await readManifest({ host: host.crash("nothing"), dir });
    expect(plainOf(state)).toEqual(plainOf(manifest.state));
  });

  it("takes effect after those before it, as it was when it was appended", async () => {
    const manifest = await begunOn(machine());
    const add = [part(manifest.takePartId(), 1)];
    const first = manifest.append({ add, sealedThrough: 10, datasets: [log(11)] });
    add.length = 0;
    const second = manifest.append({ remove: [1] });
    await first;
    expect([...manifest.state.parts.keys()]).toEqual([1]);
    await second;
    expect(manifest.state.parts.size).toBe(0);
    expect(manifest.state.nextPartId).toBe(2);
  });

  it("may add parts in another order than their ids were taken in", async () => {
    const host = machine();
    const manifest = await begunOn(host);
    const [one, two] = [manifest.takePartId(), manifest.takePartId()];
    await manifest.append({ add: [part(two, 1)], sealedThrough: 10, datasets: [log(11)] });
    await manifest.append({ add: [part(one, 11)], sealedThrough: 20, datasets: [log(21)] });
    expect([...(await readManifest({ host, dir })).state.parts.keys()]).toEqual([two, one]);
    await (await openOn(host)).begin();
    expect([...(await readManifest({ host, dir })).state.parts.keys()]).toEqual([two, one]);
  });

  it("is refused once the manifest is closed, and a close waits for what was appended", async () => {
    const manifest = await begunOn(machine());
    const appended = manifest.append(seal(manifest));
    await manifest.close();
    await appended;
    await manifest.close();
    expect(await codeOf(manifest.append({}))).toBe("CLOSED");
  });

  it("of more than 256 MiB is TOO_LARGE", () => {
    expect(() => encodeEntry({ padding: "p".repeat(2 ** 28) }, 0)).toThrow(EhdbError);
  }, 120_000);
});

describe("an edit that breaks an invariant", () => {
  const sealed = { sealedThrough: 30, datasets: [log(31)] };
  const broken: Readonly<Record<string, (manifest: Manifest) => ManifestEdit>> = {
    "numbersAreWhole: sealedThrough is 20.5": () => ({ sealedThrough: 20.5 }),
    "numbersAreWhole: records of part 3 is NaN": (manifest) => ({
      add: [{ ...part(manifest.takePartId(), 21), records: Number.NaN }],
      ...sealed,
    }),
    "numbersAreWhole: nextSort of dataset 1 is 0": () => ({ datasets: [log(0)] }),
    "datasetsKeepTheirIdentity: dataset 1 is events (by-sort), and would become events (by-key)": () => ({
      datasets: [{ ...log(21), order: "by-key" }],
    }),
    "datasetsKeepTheirIdentity: datasets 1 and 3 are both named events": () => ({ datasets: [{ ...log(21), id: 3 }] }),
    "datasetsKeepTheirIdentity: a dataset's id is 256, not from 1 to 255": () => ({
      datasets: [{ ...log(21), id: 256, name: "more" }],
    }),
    "datasetsNeverGoBack: nextSort of dataset 1 would fall from 21 to 20": () => ({ datasets: [log(20)] }),
    "sealedThroughNeverFalls: sealedThrough would fall from 20 to 19": () => ({ sealedThrough: 19 }),
    "timeNeverFalls: time would fall from 1020 to 1000": () => ({ time: 1000 }),
    "removedPartsExist: part 7 is removed and isn't there": () => ({ remove: [7] }),
    "removedPartsExist: part 1 is removed and isn't there": () => ({ remove: [1, 1] }),
    "partIdsAreNew: the id 2 of an added part isn't new": () => ({ add: [part(2, 21)], ...sealed }),
    "partIdsAreNew: the id 9 of an added part isn't new": () => ({ add: [part(9, 21)], ...sealed }),
    "partIdsAreNew: the id 3 of an added part isn't new": (manifest) => {
      const id = manifest.takePartId();
      return { add: [part(id, 21, 22), part(id, 23)], ...sealed };
    },
    "partsAreSorted: part 3 comes behind part 4": (manifest) => {
      const id = manifest.takePartId();
      return { add: [part(manifest.takePartId(), 21, 22), part(id, 23, 24)], ...sealed };
    },
    "partsHaveTheirDataset: part 3 is of dataset 5, which doesn't exist": (manifest) => ({
      add: [{ ...part(manifest.takePartId(), 21), dataset: 5 }],
      ...sealed,
    }),
    "rangesRise: a range of part 3 ends before it begins": (manifest) => ({
      add: [{ ...part(manifest.takePartId(), 21), firstTime: 9999 }],
      ...sealed,
    }),
    "logPartsDoNotOverlap: part 2 (11 to 20) and part 3 (20 to 29) of dataset 1 overlap": (manifest) => ({
      add: [part(manifest.takePartId(), 20)],
      ...sealed,
    }),
    "logPartsDoNotOverlap: part 3 (21 to 25) and part 4 (25 to 29) of dataset 1 overlap": (manifest) => ({
      add: [part(manifest.takePartId(), 21, 25), part(manifest.takePartId(), 25, 29)],
      ...sealed,
    }),
    "partsAreSealed: part 3 holds revision 30, and sealedThrough is 20": (manifest) => ({
      add: [part(manifest.takePartId(), 21)],
      datasets: [log(31)],
    }),
    "positionsAreGivenOut: part 3 ends at 30, and dataset 1 goes on at 21": (manifest) => ({
      add: [part(manifest.takePartId(), 21)],
      sealedThrough: 30,
    }),
  };

  it.each(Object.entries(broken))("%s: UNEXPECTED, and nothing is written", async (said, edit) => {
    const host = machine();
    const manifest = await begunOn(host);
    await manifest.append(seal(manifest));
    await manifest.append(seal(manifest));
    const before = { bytes: host.content(file(1)), state: plainOf(manifest.state) };
    const error = await errorOf(manifest.append(edit(manifest)));
    expect(error.code).toBe("UNEXPECTED");
    expect(error.data).toEqual({ broken: said });
    expect({ bytes: host.content(file(1)), state: plainOf(manifest.state) }).toEqual(before);
    expect(manifest.stats()).toMatchObject({ edits: 3, errors: 1 });
    await manifest.append({ ...seal(manifest), add: [] });
  });

  it("is not one that merges neighbours: what it removes makes room", async () => {
    const manifest = await begunOn(machine());
    await manifest.append(seal(manifest));
    await manifest.append(seal(manifest));
    await manifest.append(merge(manifest));
    expect([...manifest.state.parts.values()].map(({ id, firstSort, lastSort }) => [id, firstSort, lastSort])).toEqual([
      [3, 1, 20],
    ]);
  });
});

describe("a writable open", () => {
  it("puts all into a new manifest and switches before it removes anything, in this order", async () => {
    const host = machine();
    await (await begunOn(host, { retain: 1 })).close();
    await (await begunOn(host, { retain: 1 })).close();
    await touch(host, `${file(2)}.0123456789abcdef0123456789abcdef.tmp`);
    const manifest = await openOn(host, { retain: 1 });
    const before = host.history.entries.length;
    await manifest.begin();
    const name = (path: string): string => path.replaceAll("/store/", "").replaceAll(/\.[0-9a-f]{32}/g, "");
    expect(host.history.entries.slice(before).map(({ operation, path }) => `${operation} ${name(path)}`)).toEqual([
      "makeDirectory /store",
      "syncDirectory /",
      "create manifest-000000000003.tmp",
      "write manifest-000000000003.tmp",
      "dataSync manifest-000000000003.tmp",
      "rename manifest-000000000003.tmp -> manifest-000000000003",
      "syncDirectory /store",
      "create CURRENT.tmp",
      "write CURRENT.tmp",
      "dataSync CURRENT.tmp",
      "rename CURRENT.tmp -> CURRENT",
      "syncDirectory /store",
      "close CURRENT.tmp",
      "remove manifest-000000000001",
      "remove manifest-000000000002.tmp",
    ]);
    expect(manifest.stats()).toEqual({
      edits: 0,
      bytesWritten: host.content(file(3)).length + host.content("/store/CURRENT").length,
      snapshots: 1,
      versionsPruned: 1,
      versionsRetained: 1,
      diskBytes: host.content(file(2)).length + host.content(file(3)).length,
      errors: 0,
    });
  });

  it("keeps the newest older manifests that it was told to keep, which can still be read, or all of them", async () => {
    for (const [retain, kept] of [
      [1, [5]],
      [3, [3, 4, 5]],
      [0, [1, 2, 3, 4, 5]],
    ] as const) {
      const host = machine();
      const manifest = await begunOn(host, { retain });
      for (let number = 0; number < 5; number++) await manifest.begin({ ...seal(manifest) });
      expect(manifest.retained()).toEqual(kept);
      expect((await readManifest({ host, dir, id: 5 })).state.sealedThrough).toBe(40);
      expect((await readManifest({ host, dir })).state.sealedThrough).toBe(50);
      if (retain > 0) expect(await codeOf(readManifest({ host, dir, id: 1 }))).toBe("NOT_FOUND");
    }
  });

  it("refuses options that are no whole numbers", async () => {
    expect(await codeOf(openOn(machine(), { retain: -1 }))).toBe("INVALID_OPTION");
    expect(await codeOf(openOn(machine(), { epoch: 0.5 }))).toBe("INVALID_OPTION");
  });

  it("keeps fields that it doesn't know, of the state, of datasets and of parts, over edits and snapshots", async () => {
    const host = machine();
    const first = await begunOn(host);
    const edit = padded(seal(first), 3);
    const datasets = [{ ...log(11), later: 4 }];
    await first.append({ ...edit, datasets, add: (edit.add ?? []).map((one) => ({ ...one, filter: "bloom" })) });
    await first.append(seal(first));
    await first.close();
    for (let number = 0; number < 2; number++) await (await openOn(host)).begin();
    const { state } = await readManifest({ host, dir });
    expect(state.others).toEqual({ padding: "ppp" });
    expect(state.datasets.get(1)).toEqual({ ...log(21), later: 4 });
    expect(state.parts.get(1)).toMatchObject({ filter: "bloom" });
  });
});

describe("a reader", () => {
  it("beside a writer that switches at every edit always finds a whole state, never an older one, and writes nothing", async () => {
    const host = machine();
    const manifest = await begunOn(host, { retain: 1 });
    let [isWriting, reads, seen] = [true, 0, 0];
    const writing = (async () => {
      for (let number = 0; number < 60; number++) await manifest[number % 3 === 0 ? "append" : "begin"](seal(manifest));
      isWriting = false;
    })();
    while (isWriting) {
      const least = manifest.state.sealedThrough;
      const { state } = await readManifest({ host, dir });
      expect(state.sealedThrough).toBeGreaterThanOrEqual(Math.max(least, seen));
      expect(state.parts.size * 10).toBe(state.sealedThrough);
      seen = state.sealedThrough;
      reads++;
    }
    await writing;
    expect(reads).toBeGreaterThan(20);
    const before = host.statistics.operations;
    await readManifest({ host, dir });
    const kinds = host.history.entries.slice(before - host.statistics.operations).map(({ operation }) => operation);
    expect(new Set(kinds)).toEqual(new Set(["open", "size", "read", "close"]));
  });
});
