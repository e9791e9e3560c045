import { MIB } from "@ehdb/contracts";
import type { Commit, LogRecord } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host, SimulatedHost } from "@ehdb/host";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { openOn, stage } from "./drive.ts";

const text = (value: string): Uint8Array => Buffer.from(value);

function append(engine: DurableEngine, key: string, value = key, id?: string): Promise<Commit> {
  return engine.commit((batch) => batch.append("events", key, text(value), id));
}

async function records(engine: DurableEngine): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for await (const batch of engine.log("events").scan()) all.push(...batch);
  return all;
}

const lines = async (engine: DurableEngine): Promise<string[]> =>
  (await records(engine)).map(({ key, version, payload }) => `${key}@${version} ${Buffer.from(payload).toString()}`);

/** What a promise has come to, as far as it has. */
function watched(promise: Promise<unknown>): { outcome: unknown } {
  const seen: { outcome: unknown } = { outcome: "waits" };
  promise.then(
    (value) => (seen.outcome = value),
    (error: { code?: string }) => (seen.outcome = error.code),
  );
  return seen;
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "done",
    (error: { code?: string }) => error.code,
  );

/** The sync that is to make CURRENT's name durable fails. */
function failingAfterCurrent(host: SimulatedHost): Host["files"] {
  return new Proxy(host.files, {
    get: (files, name: keyof Host["files"]) => {
      if (name !== "rename") return files[name].bind(files);
      return async (from: string, to: string) => {
        await files.rename(from, to);
        if (to.endsWith("/CURRENT")) host.failNext("syncDirectory", "EIO", /\/store$/);
      };
    },
  });
}

/** The next sync of the journal fails. */
async function poison(host: SimulatedHost, engine: DurableEngine): Promise<void> {
  host.failNext("dataSync", "EIO", /\.segment/);
  expect(await codeOf(append(engine, "lost"))).toBe("OUTCOME_UNKNOWN");
  expect(engine.state).toBe("poisoned");
}

describe("space before promise", () => {
  test("a full disk refuses a commit before anything is given out, and commits go on by themselves when there is room", async () => {
    const { host, engine } = await stage({ reserveBytes: 0 });
    await append(engine, "a");
    host.faults.noSpaceAfterBytes = 0;
    const large = (): Promise<Commit> => engine.commit((batch) => batch.append("events", "a", Buffer.alloc(2 * MIB)));
    expect(await codeOf(large())).toBe("NO_SPACE");
    expect(engine.heads.accepted).toBe(1);
    expect(await lines(engine)).toEqual(["a@1 a"]);
    host.faults.noSpaceAfterBytes = Infinity;
    await host.advance(2000);
    expect((await large()).appended).toEqual([{ sort: 2, version: 2 }]);
  });

  test("a seal that finds no room says so and is tried again, and what it holds up goes on", async () => {
    const { host, engine } = await stage({ sealMaxCommits: 1, sealReserveBytes: 0 });
    host.failNext("create", "ENOSPC", /\.part$/);
    await append(engine, "a");
    await host.settle();
    const sealing = codeOf(engine.seal());
    await host.advance(300);
    expect(await sealing).toBe("done");
    expect(engine.stats()).toMatchObject({ seals: 1, seal_failed: 1 });
    host.failNext("create", "ENOSPC", /\.part$/);
    await append(engine, "b");
    expect(await codeOf(engine.seal())).toBe("NO_SPACE");
  });
});

describe("after a failed sync", () => {
  test("what was on its way rejects with OUTCOME_UNKNOWN, reads go on, and a reopen tells what is there", async () => {
    const { host, engine } = await stage({ sealReserveBytes: 0 });
    await append(engine, "a");
    const { operations } = host;
    await poison(host, engine);
    const syncs = operations.dataSync;
    await host.advance(1000);
    expect(host.operations.dataSync, "nobody tries the sync again").toBe(syncs);
    expect(await lines(engine)).toEqual(["a@1 a"]);
    expect(await codeOf(append(engine, "b"))).toBe("POISONED");
    await engine.reopen();
    const there = await lines(engine);
    expect(["a@1 a", "a@1 a|lost@1 lost"]).toContain(there.join("|"));
    expect((await append(engine, "c")).revision).toBe(there.length + 1);
  });

  test("nothing is busy while the engine is poisoned, though generations wait to be sealed", async () => {
    const { host, engine } = await stage({ sealMaxCommits: 1 });
    const held = host.hold(["create"], /\.part$/);
    await append(engine, "a");
    host.failNext("dataSync", "EIO", /\.segment/);
    const waiting = watched(engine.news(1));
    expect(await codeOf(append(engine, "b"))).toBe("OUTCOME_UNKNOWN");
    held.release();
    await host.settle();
    expect(waiting.outcome, "it is news").toBe(undefined);
    const next = watched(engine.news(1));
    await host.settle();
    expect(next.outcome).toBe("waits");
    expect(await codeOf(engine.seal())).toBe("POISONED");
    await engine.reopen();
    await engine.seal();
    expect(engine.heads.sealed).toBe(engine.revision);
  });

  test("a reopen that fails half-way leaves the engine poisoned, and takes nothing in until one succeeds", async () => {
    const { host, engine } = await stage();
    await append(engine, "a");
    await poison(host, engine);
    host.failNext("rename", "EIO", /CURRENT/);
    expect(await codeOf(engine.reopen())).toBe("IO_ERROR");
    expect(engine.state).toBe("poisoned");
    expect(await codeOf(append(engine, "b"))).toBe("POISONED");
    await engine.reopen();
    expect(engine.state).toBe("open");
    const there = (await lines(engine)).length;
    expect((await append(engine, "c")).appended[0]?.sort).toBe(there + 1);
  });
});

describe("an answer waits for what it rests on", () => {
  test.each([
    [
      "a conflict",
      "CONFLICT",
      (engine: DurableEngine) =>
        engine.commit((batch) => {
          batch.expect("events", "a", "none");
          batch.append("events", "a", text("two"));
        }),
    ],
    ["a duplicate", { isDuplicate: true }, (engine: DurableEngine) => append(engine, "a", "one", "id")],
    ["an id that is used otherwise", "ID_REUSED", (engine: DurableEngine) => append(engine, "a", "other", "id")],
  ] as const)("%s", async (_, answer, ask) => {
    for (const fails of [false, true]) {
      const { host, engine } = await stage();
      const sync = host.hold(["dataSync"], /\.segment/);
      const first = watched(append(engine, "a", "one", "id"));
      const asked = watched(ask(engine));
      await host.settle();
      expect([first.outcome, asked.outcome]).toEqual(["waits", "waits"]);
      if (fails) host.failNext("dataSync", "EIO", /\.segment/);
      sync.release();
      await host.settle();
      if (fails) expect([first.outcome, asked.outcome]).toEqual(["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"]);
      else if (typeof answer === "string") expect(asked.outcome).toBe(answer);
      else expect(asked.outcome).toMatchObject(answer);
    }
  });
});

describe("heads that aren't in memory", () => {
  test("commits under one cold key keep the order of their calls", async () => {
    const { host, engine } = await stage();
    await append(engine, "a", "1");
    await append(engine, "b", "1");
    await engine.seal();
    await engine.close();
    const again = await openOn(host);
    const commits = await Promise.all(["2", "3", "4"].map((value) => append(again, "a", value)));
    expect(commits.map(({ appended }) => appended[0]?.version)).toEqual([2, 3, 4]);
    expect(await lines(again)).toEqual(["a@1 1", "b@1 1", "a@2 2", "a@3 3", "a@4 4"]);
  });

  test("one that waits for its head holds up what was called behind it", async () => {
    const { host, engine } = await stage();
    await append(engine, "a");
    await engine.seal();
    await engine.close();
    const again = await openOn(host);
    const reads = host.hold(["read"], /\.part$/);
    const [cold, fresh] = [watched(append(again, "a")), watched(append(again, "never seen"))];
    await host.settle();
    expect([cold.outcome, fresh.outcome]).toEqual(["waits", "waits"]);
    reads.release();
    await host.settle();
    expect((await lines(again)).slice(1)).toEqual(["a@2 a", "never seen@1 never seen"]);
  });
});

describe("one commit, one moment", () => {
  test("all that a commit wrote has its revision, and a read that began before shows none of it", async () => {
    const { engine } = await stage();
    await append(engine, "a");
    const scan = engine.log("events").scan()[Symbol.asyncIterator]();
    const first = await scan.next();
    const { revision } = await engine.commit((batch) => {
      batch.append("events", "a", text("2"));
      batch.append("events", "b", text("3"));
      batch.put("state", "c", text("4"));
    });
    expect(first.value).toHaveLength(1);
    expect(await scan.next()).toMatchObject({ done: true });
    expect((await records(engine)).map((one) => one.revision)).toEqual([1, revision, revision]);
    expect((await engine.map("state").get("c"))?.revision).toBe(revision);
  });

  test("a commit of more than 16 MiB is refused whole", async () => {
    const { engine } = await stage();
    const halves = engine.commit((batch) => {
      batch.append("events", "a", Buffer.alloc(9 * MIB));
      batch.append("events", "b", Buffer.alloc(9 * MIB));
    });
    expect(await codeOf(halves)).toBe("TOO_LARGE");
    expect(engine.heads.accepted).toBe(0);
  });

  test("what states a commit runs once, and no recovery or seal runs it again", async () => {
    const { host, engine } = await stage();
    let runs = 0;
    await engine.commit((batch) => {
      runs++;
      batch.append("events", "a", text("1"));
    });
    await engine.seal();
    await engine.close();
    const again = await openOn(host);
    expect(await lines(again)).toEqual(["a@1 1"]);
    expect(runs).toBe(1);
  });
});

describe("the engine's time", () => {
  test("never falls, though the clock is set back, over a close and a seal too", async () => {
    const { host, engine } = await stage();
    const { time } = await append(engine, "a");
    host.jump(-86_400_000);
    const second = await append(engine, "a");
    expect(second.time).toBeGreaterThanOrEqual(time);
    await engine.seal();
    await engine.close();
    host.jump(-86_400_000);
    const again = await openOn(host);
    expect((await append(again, "a")).time).toBeGreaterThanOrEqual(second.time);
  });
});

describe("a seal", () => {
  test("syncs parts, then their directory, then the manifest's edit; then the journal lets go", async () => {
    const { host, engine } = await stage({ sealReserveBytes: 0 });
    await append(engine, "a");
    await engine.commit((batch) => batch.put("state", "a", text("1")));
    const before = host.history.entries.at(-1)?.place ?? 0;
    await engine.seal();
    await host.settle();
    const syncs = host.history.entries
      .filter(({ place, operation }) => place > before && (operation === "dataSync" || operation === "syncDirectory"))
      .map(({ path }) => path.replaceAll(/\d{5,}|\.[0-9a-f]{32}\.tmp/g, ""));
    expect(syncs).toEqual([
      "/store/parts/.part",
      "/store/parts/.part",
      "/store/parts",
      "/store/manifest-",
      "/store/journal/.segment",
    ]);
  });

  test("whose part can't be read back makes the engine corrupt: nothing more is taken in, nobody hangs, reads go on", async () => {
    const { host, engine: other } = await stage();
    await other.close();
    const { files, clock, random } = host;
    const garbage = { run: () => Promise.resolve(new Uint8Array(8000)), close: () => Promise.resolve() };
    const workers = garbage as unknown as Host["workers"];
    const engine = await openOn({ files, clock, random, workers }, { sealMaxCommits: 1 });
    await append(engine, "a");
    expect(await codeOf(engine.seal())).toBe("CORRUPT");
    await host.settle();
    expect(engine.state).toBe("corrupt");
    expect(await codeOf(append(engine, "b"))).toBe("CORRUPT");
    expect(await codeOf(engine.ready())).toBe("CORRUPT");
    expect(await lines(engine)).toEqual(["a@1 a"]);
    await engine.close();
    expect(await lines(await openOn(host))).toEqual(["a@1 a"]);
  });

  test("notes the next position of each log, and a part's id is above all that lie in the directory", async () => {
    const { host, engine } = await stage();
    await append(engine, "a");
    const stray = await host.files.open("/store/parts/000000000099.part", "create");
    await stray.close();
    await engine.close();
    const again = await openOn(host);
    await append(again, "a");
    await again.seal();
    await again.close();
    const { state } = await readManifest({ host, dir: "/store" });
    const events = [...state.datasets.values()].find(({ name }) => name === "events");
    expect(events?.nextSort).toBe(3);
    expect([...state.parts.keys()]).toEqual([100]);
    expect((await append(await openOn(host), "a")).appended).toEqual([{ sort: 3, version: 3 }]);
  });
});

describe("ids", () => {
  test("outlive a seal and a close, as long as they are in the window; then they are new", async () => {
    const options = { dedupeWindow: 3 };
    const { host, engine } = await stage(options);
    await append(engine, "a", "1", "id");
    await engine.seal();
    await engine.close();
    const again = await openOn(host, options);
    expect(await append(again, "a", "1", "id")).toMatchObject({ revision: 1, isDuplicate: true });
    expect(await codeOf(append(again, "a", "2", "id"))).toBe("ID_REUSED");
    for (let i = 0; i < 3; i++) await append(again, "b");
    await again.seal();
    expect(await append(again, "a", "2", "id")).toMatchObject({ revision: 5, isDuplicate: false });
  });
});

describe("opens", () => {
  test("a store whose first CURRENT couldn't be synced opens, also after a crash in the open that follows", async () => {
    for (const nth of [1, 2]) {
      const host = simulatedHost({ seed: nth });
      const { clock, random, workers } = host;
      const files = failingAfterCurrent(host);
      expect(await codeOf(openOn({ files, clock, random, workers }))).toBe("IO_ERROR");
      host.crashAt({ operation: "rename", path: /CURRENT/, nth });
      void openOn(host).catch(() => undefined);
      await host.whenFrozen();
      const engine = await openOn(host.crash());
      expect((await append(engine, "a")).revision).toBe(1);
    }
  });

  test("on a full disk, what is in parts can be read even if the journal hasn't stated it", async () => {
    const { host, engine } = await stage({ reserveBytes: 0 });
    await append(engine, "a");
    await append(engine, "b");
    // The edit is durable, and the mark that would state it to the journal isn't written.
    host.crashAt({ operation: "dataSync", path: /manifest-/, when: "after" });
    void engine.seal().catch(() => undefined);
    await host.whenFrozen();
    const next = host.crash();
    next.faults.noSpaceAfterBytes = 0;
    const full = await openOn(next, { reserveBytes: 0 });
    expect(full.state).toBe("read-only");
    expect(await lines(full)).toEqual(["a@1 a", "b@1 b"]);
    expect(full.heads).toEqual({ accepted: 2, durable: 2, sealed: 2 });
    expect(await codeOf(full.seal())).toBe("READ_ONLY");
    next.faults.noSpaceAfterBytes = Infinity;
    await full.reopen();
    expect((await append(full, "c")).revision).toBe(3);
  });
});

describe("a reopen", () => {
  test("waits for the seal that is under way, and nothing of that comes later", async () => {
    const { host, engine } = await stage();
    await append(engine, "a");
    const held = host.hold(["dataSync"], /\.part$/);
    const sealing = watched(engine.seal());
    await host.settle();
    await poison(host, engine);
    const reopening = watched(engine.reopen());
    await host.advance(1000);
    expect([reopening.outcome, engine.state]).toEqual(["waits", "poisoned"]);
    held.release();
    await host.settle();
    expect(reopening.outcome).toMatchObject({ epoch: 2 });
    expect(sealing.outcome).not.toBe("waits");
    await engine.seal();
    expect((await lines(engine)).slice(0, 1)).toEqual(["a@1 a"]);
    await engine.close();
  });
});

describe("a close", () => {
  test.each(["sync", "batch", "async"] as const)(
    "finishes what was called before, in mode %s, though it still waits for its turn",
    async (durability) => {
      const { host, engine: first } = await stage();
      await append(first, "a");
      await first.seal();
      await first.close();
      const engine = await openOn(host, { durability });
      const commits = ["a", "b", "a"].map((key) => append(engine, key, "late"));
      const closing = engine.close();
      expect((await Promise.all(commits)).map(({ revision }) => revision)).toEqual([2, 3, 4]);
      expect(await closing).toMatchObject({ state: "clean" });
      expect(await lines(await openOn(host))).toEqual(["a@1 a", "a@2 late", "b@1 late", "a@3 late"]);
    },
  );
});
