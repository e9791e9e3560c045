import { isEhdbError } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import { openEngineReader } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { ENTRY_HEADER_BYTES, HEADER_BYTES } from "../src/manifest/format.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { openOn, stage } from "./drive.ts";
import { all } from "./reader-ledger.ts";

/** What leaves the last edit of the manifest. */
const works = {
  "a merge that erased": (engine: DurableEngine) => engine.scavenge(),
  "a raised floor": (engine: DurableEngine) => engine.raiseFloor("events", 5),
  "a seal whose commits are in the journal too": async (engine: DurableEngine) => {
    await engine.commit((batch) => batch.append("events", "b", Buffer.from("sealed")));
    await engine.seal();
  },
} as const;

interface Stored {
  readonly host: SimulatedHost;
  readonly manifest: string;
  readonly shown: string;
  /** Where the bytes of the last edit that says something begin. */
  readonly from: number;
}

/** A closed store, in which unlinks weren't durable yet: the files of merged parts are there again. */
async function stored(work: (engine: DurableEngine) => Promise<void>): Promise<Stored> {
  const { host, engine } = await stage({ background: false });
  for (let number = 1; number <= 6; number++)
    await engine.commit((batch) => batch.append("events", "a", Buffer.from(`payload ${number}`)));
  await engine.seal();
  await engine.commit((batch) => batch.erase("events", "a", 4));
  await engine.seal();
  await host.files.makeDirectory("/kept");
  const parts = await host.files.list("/store/parts");
  for (const name of parts) await host.files.link(`/store/parts/${name}`, `/kept/${name}`);
  await work(engine);
  await engine.close();
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

async function shownBeside(host: SimulatedHost): Promise<string> {
  const reader = await openEngineReader({ dir: "/store", host });
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

test("a seal's edit that is lost while the journal has its commits does no harm", async () => {
  const { host, engine } = await stage({ background: false });
  for (let number = 1; number <= 6; number++)
    await engine.commit((batch) => batch.append("events", "a", Buffer.from(`payload ${number}`)));
  // What was sealed is dropped from the journal after the edit.
  const held = host.hold(["writeAtSync", "write"], /segment/);
  await engine.seal();
  const { file, edits } = await readManifest({ host, dir: "/store" });
  expect(edits).toBe(1);
  const crashed = host.crash("nothing");
  held.release();
  crashed.flipBit(file, lastByteOf(crashed, file), 3);
  const again = await openOn(crashed);
  expect((await all(again.log("events").scan())).length).toBe(6);
  expect(again.recovery.replayedCommits).toBe(6);
  await again.close();
});

const lastByteOf = (host: SimulatedHost, path: string): number => host.content(path).length - 1;
