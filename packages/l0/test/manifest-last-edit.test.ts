import { isEhdbError } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import { openEngineReader, salvageStore, verifyStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { removeStore } from "../src/care/unfinished-store.ts";
import { ENTRY_HEADER_BYTES, HEADER_BYTES } from "../src/manifest/format.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { openOn, stage } from "./drive.ts";
import { all } from "./reader-ledger.ts";

/** What leaves the last edit of the manifest. */
const works = {
  "a merge that erased": closed((engine) => engine.scavenge()),
  "a raised floor": closed((engine) => engine.raiseFloor("events", 5)),
  "a seal whose commits are in the journal too": async (engine: DurableEngine, host: SimulatedHost) => {
    await engine.commit((batch) => batch.append("events", "b", Buffer.from("sealed")));
    return await sealedAndNotDropped(engine, host);
  },
} as const;

type Work = (engine: DurableEngine, host: SimulatedHost) => Promise<SimulatedHost>;

function closed(work: (engine: DurableEngine, host: SimulatedHost) => Promise<unknown>): Work {
  return async (engine, host) => {
    await work(engine, host);
    await engine.close();
    return host;
  };
}

/** The process ends after the edit's sync, and before the journal's mark by which what is sealed is dropped: that looks up an epoch first. */
async function sealedAndNotDropped(engine: DurableEngine, host: SimulatedHost): Promise<SimulatedHost> {
  // What is durable is stated when nothing has come for a while.
  await host.advance(100);
  host.hold(["read"], /segment/);
  await engine.seal();
  await host.settle();
  return host.kill();
}

interface Stored {
  readonly host: SimulatedHost;
  readonly manifest: string;
  readonly shown: string;
  /** Where the bytes of the last edit that says something begin. */
  readonly from: number;
}

/** A store that nobody has open, in which unlinks weren't durable yet: the files of merged parts are there again. */
async function stored(work: Work): Promise<Stored> {
  const { host: first, engine } = await stage({ background: false });
  for (let number = 1; number <= 6; number++)
    await engine.commit((batch) => batch.append("events", "a", Buffer.from(`payload ${number}`)));
  await engine.seal();
  await engine.commit((batch) => batch.erase("events", "a", 4));
  await engine.seal();
  await first.files.makeDirectory("/kept");
  const parts = await first.files.list("/store/parts");
  for (const name of parts) await first.files.link(`/store/parts/${name}`, `/kept/${name}`);
  const host = await work(engine, first);
  const left = new Set(await host.files.list("/store/parts"));
  for (const name of parts) if (!left.has(name)) await host.files.link(`/kept/${name}`, `/store/parts/${name}`);
  const { file } = await readManifest({ host, dir: "/store" });
  return { host, manifest: file, shown: await shownBeside(host), from: lastEditIn(Buffer.from(host.content(file))) };
}

function lastEditIn(bytes: Buffer): number {
  const edits: number[] = [];
  for (let at = HEADER_BYTES; at < bytes.length;) {
    const end = at + ENTRY_HEADER_BYTES + bytes.readUInt32LE(at);
    const text = bytes.toString("utf8", at + ENTRY_HEADER_BYTES, end);
    if (!text.endsWith('"edit":{}}')) edits.push(at);
    at = end;
  }
  expect(edits.length).toBeGreaterThan(1);
  return edits.at(-1) as number;
}

async function shownBeside(host: SimulatedHost, dir = "/store"): Promise<string> {
  const reader = await openEngineReader({ dir, host });
  try {
    const { first, last } = reader.log("events");
    const records = await all(reader.log("events").scan());
    return [first, last, ...records.map(({ sort, payload }) => `${sort} ${Buffer.from(payload).toString()}`)].join(
      ", ",
    );
  } finally {
    await reader.close();
  }
}

async function cut(host: SimulatedHost, path: string, bytes: number): Promise<void> {
  const file = await host.files.open(path, "write");
  await file.truncate(Math.floor(bytes));
  await file.close();
}

async function outcomeOf(showing: Promise<string>): Promise<string> {
  try {
    return await showing;
  } catch (error) {
    if (isEhdbError(error, "CORRUPT")) return "CORRUPT";
    throw error;
  }
}

describe.each(Object.entries(works))("with a flipped bit in the manifest's end, after %s,", (name, work) => {
  test("a reader shows what was there, or CORRUPT", async () => {
    const { host, manifest, shown, from } = await stored(work);
    const { length } = host.content(manifest);
    const found = new Map<string, number>();
    for (let offset = from; offset < length; offset++) {
      for (const bit of [offset % 8, (offset * 5 + 3) % 8]) {
        host.flipBit(manifest, offset, bit);
        const outcome = await outcomeOf(shownBeside(host));
        expect(["CORRUPT", shown], `byte ${offset}, bit ${bit}`).toContain(outcome);
        found.set(outcome, (found.get(outcome) ?? 0) + 1);
        host.flipBit(manifest, offset, bit);
      }
    }
    if (name.startsWith("a seal")) expect([...found.keys()]).toEqual([shown]);
    else expect(found.get("CORRUPT")).toBeGreaterThan(60);
  });

  test("an open shows what was there, or is CORRUPT", async () => {
    const { manifest, from } = await stored(work);
    for (let step = 0; ; step++) {
      const { host, shown } = await stored(work);
      const offset = from + step * 13;
      if (offset >= host.content(manifest).length) break;
      host.flipBit(manifest, offset, step % 8);
      const opened = (async () => {
        const engine = await openOn(host, { background: false });
        await engine.close();
        return await shownBeside(host);
      })();
      expect(["CORRUPT", shown], `byte ${offset}`).toContain(await outcomeOf(opened));
    }
  });
});

/** Six commits that are sealed, and how the store was left then; the seal's edit is damaged. */
async function withLostSeal(leave: Work): Promise<SimulatedHost> {
  const { host, engine } = await stage({ background: false });
  for (let number = 1; number <= 6; number++)
    await engine.commit((batch) => batch.append("events", "a", Buffer.from(`payload ${number}`)));
  const left = await leave(engine, host);
  const { file, edits } = await readManifest({ host: left, dir: "/store" });
  expect(edits).toBe(1);
  left.flipBit(file, left.content(file).length - 1, 3);
  return left;
}

describe("a seal's edit that is lost", () => {
  test("while the journal has its commits does no harm", async () => {
    const again = await openOn(await withLostSeal(sealedAndNotDropped));
    expect((await all(again.log("events").scan())).length).toBe(6);
    expect(again.recovery.replayedCommits).toBe(6);
    await again.close();
  });

  test("after the journal has dropped its commits is found", async () => {
    const host = await withLostSeal(
      closed(async (engine, machine) => {
        await engine.seal();
        await machine.settle();
      }),
    );
    expect(await outcomeOf(shownBeside(host))).toBe("CORRUPT");
    await expect(openOn(host)).rejects.toMatchObject({ code: "CORRUPT", message: /an edit of the manifest is lost/ });
    const { damage } = await verifyStore({ dir: "/store", host });
    const { file, end } = await readManifest({ host, dir: "/store" });
    expect(damage).toMatchObject([{ kind: "manifest", file, offset: end, firstRevision: 1, lastRevision: 6 }]);
  });

  const dropped = closed(async (engine, machine) => {
    await engine.seal();
    await machine.settle();
    // It isn't the only one that the journal has dropped, and merges have taken others' places.
    await engine.merge();
    await engine.commit((batch) => batch.append("events", "b", Buffer.from("sealed")));
    await engine.seal();
    await engine.commit((batch) => {
      batch.erase("events", "b", 2);
      batch.append("events", "b", Buffer.from("sealed later"));
    });
    await engine.seal();
    await machine.settle();
  });

  async function salvaged(host: SimulatedHost): Promise<{ shown: string; lost: readonly object[] }> {
    const { lost } = await salvageStore({ dir: "/store", to: "/saved", host });
    const shown = await shownBeside(host, "/saved");
    await removeStore(host, "/saved");
    return { shown, lost };
  }

  test("is put right by a salvage, whichever bit is flipped", async () => {
    const { host, manifest, shown, from } = await stored(dropped);
    const { length } = host.content(manifest);
    for (let offset = from; offset < length; offset += 7) {
      host.flipBit(manifest, offset, offset % 8);
      expect(await salvaged(host), `byte ${offset}`).toEqual({ shown, lost: [] });
      host.flipBit(manifest, offset, offset % 8);
    }
  });

  test("that can't be put right is known by its parts", async () => {
    const { host, manifest, shown, from } = await stored(dropped);
    const { length } = host.content(manifest);
    for (let offset = from + 20; offset < from + 60; offset++) host.flipBit(manifest, offset, offset % 7);
    expect(await salvaged(host)).toEqual({ shown, lost: [] });
    // Also when it was cut off.
    await cut(host, manifest, from + (length - from) / 2);
    expect(await salvaged(host)).toEqual({ shown, lost: [] });
    await cut(host, manifest, from);
    const newest = (await host.files.list("/store/parts")).toSorted().at(-1) as string;
    await host.files.remove(`/store/parts/${newest}`);
    const { lost } = await salvageStore({ dir: "/store", to: "/saved", host });
    expect(lost).toMatchObject([{ kind: "journal", reason: /an edit of the manifest is lost/ }]);
  });
});
