import { describe, expect, it } from "vitest";
import type { OperationKind, SimulatedHost } from "@ehdb/host";
import { readManifest } from "../src/manifest/read-manifest.ts";
import {
  after,
  begunOn,
  detoured,
  dir,
  errorOf,
  file,
  log,
  machine,
  map,
  openOn,
  padded,
  plainOf,
  seal,
} from "./manifest/drive.ts";
import type { Plain } from "./manifest/drive.ts";
import type { Manifest } from "../src/manifest/manifest.ts";

/** What a switch and an append do that a disk can fail. */
const kinds = ["create", "write", "dataSync", "rename", "syncDirectory"] as const satisfies OperationKind[];
const codes = { EIO: "IO_ERROR", ENOSPC: "NO_SPACE", EDQUOT: "NO_SPACE" } as const;

/** An open manifest whose disk fails at the nth operation of a kind, counted from `arm`. */
async function failing(
  kind: OperationKind,
  nth: number,
  code: keyof typeof codes,
): Promise<{ host: SimulatedHost; manifest: Manifest; arm: () => void; failed: () => boolean }> {
  const host = machine(nth);
  let left = Infinity;
  const detour = detoured(host, {
    before: (met) => {
      if (met === kind && --left === 0) host.failNext(kind, code);
    },
  });
  const manifest = await openOn(detour);
  return { host, manifest, arm: () => (left = nth), failed: () => left <= 0 };
}

/** Whether a crash of each kind leaves one of these states. */
async function expectAfterCrash(host: SimulatedHost, states: readonly Plain[], where: string): Promise<void> {
  const { state } = await readManifest({ host: host.crash(), dir });
  expect(states, where).toContainEqual(plainOf(state));
}

describe("an error of the disk", () => {
  const cases = kinds.flatMap((kind) => ([1, 2] as const).map((nth) => ({ kind, nth })));

  it.each(cases)("at $kind $nth of an edit that switches rejects it, and it can be appended again", async (place) => {
    for (const [code, expected] of Object.entries(codes) as [keyof typeof codes, string][]) {
      for (const isRetried of [true, false]) {
        const { host, manifest, arm, failed } = await failing(place.kind, place.nth, code);
        await manifest.begin({ datasets: [log(1), map] });
        await manifest.append(padded(seal(manifest), 60_000));
        const before = plainOf(manifest.state);
        const edit = padded(seal(manifest), 60_000);
        arm();
        const error = await errorOf(manifest.append(edit));
        expect(failed()).toBe(true);
        expect(error.code).toBe(expected);
        expect(error.cause).toMatchObject({ code });
        expect(plainOf(manifest.state)).toEqual(before);
        expect(manifest.stats().errors).toBe(1);
        if (!isRetried) {
          await expectAfterCrash(host, [before, after(before, edit)], code);
          continue;
        }
        await manifest.append(edit);
        await manifest.append(seal(manifest));
        const last = plainOf(manifest.state);
        expect(last.parts.map(({ id }) => id)).toEqual([1, 2, 3]);
        await expectAfterCrash(host, [last], `${code}, retried`);
      }
    }
  });

  it.each(["write", "dataSync"] as const)(
    "at the %s of an edit ends its file; the next one goes into another",
    async (kind) => {
      const { host, manifest, arm } = await failing(kind, 1, "EIO");
      await manifest.begin({ datasets: [log(1), map] });
      await manifest.append(seal(manifest));
      const first = manifest.id;
      const before = plainOf(manifest.state);
      const edit = seal(manifest);
      arm();
      expect((await errorOf(manifest.append(edit))).code).toBe("IO_ERROR");
      const broken = Buffer.from(host.content(file(first)));
      await manifest.recover();
      expect(manifest.id).toBe(first + 1);
      expect(manifest.retained()).toEqual([first]);
      expect(plainOf(manifest.state)).toEqual(before);
      await manifest.append(edit);
      await manifest.recover();
      expect(manifest.id).toBe(first + 1);
      expect(Buffer.from(host.content(file(first)))).toEqual(broken);
      await expectAfterCrash(host, [after(before, edit)], "");
    },
  );

  it.each(cases)("at $kind $nth of a begin leaves a store that can begin again, or be opened anew", async (place) => {
    for (const isNew of [true, false]) {
      for (const isRetried of [true, false]) {
        const { host, manifest, arm } = await failing(place.kind, place.nth, "EIO");
        const edit = { datasets: [log(1), map] };
        if (!isNew) await manifest.begin(edit);
        const store = manifest.state.store;
        arm();
        // Making the directory of a new store syncs its parent first, so that not all of its syncs are met.
        const error = await errorOf(manifest.begin(edit));
        expect(error.code).toBe("IO_ERROR");
        if (isRetried) await manifest.begin(edit);
        const reopened = await openOn(host.crash());
        if (isRetried || !isNew) expect(reopened.state.store).toBe(store);
        await reopened.begin({ datasets: [log(1), map] });
        await reopened.append(seal(reopened));
        expect(reopened.state.parts.size).toBe(1);
      }
    }
  });

  it("while older manifests are removed fails nothing, is counted, and they go the next time", async () => {
    const host = machine();
    const manifest = await begunOn(host, { retain: 1 });
    await manifest.begin();
    host.failNext("remove", "EIO", /manifest-/);
    await manifest.begin();
    expect(manifest.retained()).toEqual([1, 2]);
    expect(manifest.stats()).toMatchObject({ errors: 1, versionsPruned: 0 });
    await manifest.begin();
    expect(manifest.retained()).toEqual([3]);
    expect(manifest.stats()).toMatchObject({ errors: 1, versionsPruned: 2, versionsRetained: 1 });
  });

  it("while reading is IO_ERROR, and changes nothing", async () => {
    const host = machine();
    await (await begunOn(host)).close();
    host.failNext("read");
    expect((await errorOf(openOn(host))).code).toBe("IO_ERROR");
    expect((await openOn(host)).state.datasets.size).toBe(2);
  });
});

describe("a full disk", () => {
  it("at any number of free pages rejects with NO_SPACE, loses nothing, and edits go on when there is room", async () => {
    const whole = 2 ** 40;
    let refused = 0;
    for (let pages = 0; pages < 60; pages++) {
      const host = machine(pages);
      const manifest = await begunOn(host);
      host.faults.noSpaceAfterBytes = whole;
      host.faults.noSpaceAfterBytes = whole - (await host.files.freeBytes("/")) + pages * 4096;
      let state = plainOf(manifest.state);
      for (let number = 0; number < 12; number++) {
        const edit = padded(seal(manifest), 20_000);
        try {
          await manifest.append(edit);
        } catch (error) {
          expect(error).toMatchObject({ code: "NO_SPACE" });
          refused++;
          expect((await errorOf(manifest.append(edit))).code, "at once again").toBe("NO_SPACE");
          host.faults.noSpaceAfterBytes = Infinity;
          await manifest.append(edit);
        }
        state = after(state, edit);
      }
      expect(await temporaries(host)).toEqual([]);
      await expectAfterCrash(host, [state], `${pages} pages`);
    }
    expect(refused).toBeGreaterThan(30);
  });

  const temporaries = async (host: SimulatedHost): Promise<string[]> =>
    (await host.files.list(dir)).filter((name) => name.endsWith(".tmp"));
});
