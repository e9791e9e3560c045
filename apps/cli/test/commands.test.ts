import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEventLog } from "@ehdb/eventlog";
import { realHost } from "@ehdb/host";
import { newestKeyId } from "@ehdb/journal";
import { openEngine, prometheusText } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { answer, linesOf } from "./in-process.ts";
import { directory, makeStore, shell } from "./program.ts";

async function store(options?: { readonly events?: number }): Promise<string> {
  const dir = join(await directory(), "store");
  await makeStore(dir, options);
  return dir;
}

const has = (text: string): unknown => expect.stringContaining(text);
const jsonOf = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe("looking", () => {
  test("inspect tells what lies in a store, for people and machines", async () => {
    const dir = await store();
    const { code, out } = await answer(["inspect", dir]);
    expect(code).toBe(0);
    for (const word of ["eventlog.events", "by-sort", "journal segments", "commits in parts"])
      expect(out).toContain(word);
    const facts = jsonOf((await answer(["inspect", dir, "--json"])).out);
    expect(facts).toMatchObject({ epoch: 1, sealedThrough: 90 });
  });

  test("stats tells positions, consumers and disk use", async () => {
    const dir = await store();
    const { code, out } = await answer(["stats", dir, "--json"]);
    expect(code).toBe(0);
    const consumers = [{ name: "mailer", committed: 80, lag: 13 }];
    expect(jsonOf(out)).toMatchObject({ revision: 95, sealedThrough: 90, eventLog: { position: 93, consumers } });
    expect((await answer(["stats", dir])).out).toContain("mailer");
  });

  test("stats --prometheus tells what the engine's own gauges say, under their names, and no counter", async () => {
    const dir = await store();
    const log = await openEventLog({ dir });
    const ownText = (): string => {
      log.engine.refreshStateGauges();
      return prometheusText(log.engine.stats());
    };
    let [own, out] = ["", ""];
    // The journal makes its space ahead when it can: a look that it came between is none.
    for (let before: string | undefined; before !== own;) {
      before = ownText();
      const answered = await answer(["stats", dir, "--prometheus"]);
      expect(answered.code).toBe(0);
      ({ out } = answered);
      own = ownText();
    }
    await log.close();
    expect(out).toMatch(/^# TYPE ehdb_l0_journal_bytes gauge$/m);
    const samples = out.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(samples).toHaveLength(8);
    expect(samples.filter((line) => !own.split("\n").includes(line))).toEqual([
      "ehdb_l0_revision 95",
      "ehdb_eventlog_position 93",
      'ehdb_eventlog_consumer_lag{consumer="mailer"} 13',
    ]);
    expect(out).not.toContain("counter");
    expect((await answer(["stats", dir, "--prometheus", "--json"])).code).toBe(2);
  });

  test("a consumer's name is a label as the format wants it", async () => {
    const dir = join(await directory(), "store");
    const log = await openEventLog({ dir });
    await log.append("a", { type: "b" });
    await log.consumer('a"b\\c\nd').ack(1);
    await log.close();
    const { out } = await answer(["stats", dir, "--prometheus"]);
    expect(out).toContain(String.raw`ehdb_eventlog_consumer_lag{consumer="a\"b\\c\nd"} 0` + "\n");
  });

  test("what stats tells is of one moment, beside a writer that seals without pause", async () => {
    const dir = join(await directory(), "busy");
    const log = await openEventLog({ dir, sealMaxBytes: 64 * 1024 });
    let isWriting = true;
    const write = async (): Promise<void> => {
      for (let n = 0; isWriting; n++) {
        const events = Array.from({ length: 20 }, () => ({ type: "t", data: "x".repeat(200) }));
        await log.append(`s-${n % 50}`, events);
      }
    };
    await log.append(
      "s-0",
      [1, 2, 3, 4, 5].map(() => ({ type: "t" })),
    );
    const writing = write();
    const differences: number[] = [];
    for (let look = 0; look < 15; look++) {
      const { revision, sealedThrough, unsealed } = jsonOf((await answer(["stats", dir, "--json"])).out);
      differences.push(
        Number(revision) - Number(sealedThrough) - (unsealed as { unsealedCommits: number }).unsealedCommits,
      );
      expect(linesOf((await answer(["tail", dir, "--last", "5", "--no-follow", "--json"])).out)).toHaveLength(5);
      const { journal, sealedThrough: sealed } = jsonOf((await answer(["inspect", dir, "--json"])).out);
      expect((journal as { first: number }).first).toBeLessThanOrEqual(Number(sealed) + 1);
    }
    isWriting = false;
    await writing;
    const { sealed_bytes: sealedBytes } = log.engine.stats();
    await log.close();
    expect(sealedBytes).toBeGreaterThan(0);
    expect(differences).toEqual(differences.map(() => 0));
  });

  test("no name moves the cursor or begins a line of its own", async () => {
    const dir = join(await directory(), "store");
    const log = await openEventLog({ dir });
    const evil = "\u001b[2J\n9  forged\u009b\u202e";
    const shown = String.raw`\u001b[2J\u000a9  forged\u009b\u202e`;
    await log.append(evil, { type: evil, data: { evil } });
    await log.consumer(evil).ack(1);
    await log.close();
    const tail = (await answer(["tail", dir, "--no-follow"])).out;
    expect(tail).toContain(`  ${shown}@1  ${shown}  {`);
    expect(tail.split("\n")).toHaveLength(2);
    const stats = (await answer(["stats", dir])).out;
    expect(stats).toContain(shown);
    const { err } = await answer(["export", dir, "--dataset", evil]);
    for (const text of [tail, stats, err]) expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  test("verify finds a store whole, and a flipped bit, with the file", async () => {
    const dir = await store();
    expect(await answer(["verify", dir])).toMatchObject({ code: 0, out: has("what was written") });
    const [name = ""] = await readdir(join(dir, "parts"));
    const part = join(dir, "parts", name);
    const bytes = await readFile(part);
    bytes[3000] = (bytes[3000] ?? 0) ^ 4;
    await writeFile(part, bytes);
    const { code, out } = await answer(["verify", dir]);
    expect(code).toBe(1);
    expect(out).toContain(`DAMAGED ${part} at byte`);
    const report = jsonOf((await answer(["verify", dir, "--json"])).out);
    expect(report).toMatchObject({ ok: false, damage: [{ file: part }] });
  });

  test("a store is as it was after all that only looks", async () => {
    const dir = await store();
    const contents = async (): Promise<unknown> => {
      const names = await readdir(dir, { recursive: true, withFileTypes: true });
      const files = names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
      return await Promise.all(files.sort().map(async (file) => [file, (await readFile(file)).toString("base64")]));
    };
    const before = await contents();
    for (const command of ["inspect", "stats", "verify", "export"]) expect((await answer([command, dir])).code).toBe(0);
    expect((await answer(["tail", dir, "--no-follow"])).code).toBe(0);
    expect(await contents()).toEqual(before);
  });
});

describe("export and import", () => {
  test("an export is all events that aren't hidden, in order, and a store of it is the same", async () => {
    const dir = await store();
    const { code, out } = await answer(["export", dir]);
    const events = linesOf(out);
    expect(code).toBe(0);
    expect(events).toHaveLength(92);
    expect(events[0]).toMatchObject({
      position: 1,
      stream: "order-1",
      version: 1,
      id: "e-1",
      data: { n: 1 },
      metadata: { by: "test" },
    });
    expect(events[90]).toMatchObject({ stream: "bytes", dataBase64: "AQL/" });
    expect(events.map(({ stream }) => stream)).not.toContain("hidden");
    const copy = `${dir}-copy`;
    const imported = await answer(["import", "-", copy, "--json"], { lines: out.split("\n") });
    expect(jsonOf(imported.out)).toMatchObject({ events: 92, duplicates: 0, keepsPlaces: true, otherPosition: 0 });
    // To the last letter: the hidden one has left a gap, and times are what they were.
    expect((await answer(["export", copy])).out).toBe(out);
    const anew = `${dir}-anew`;
    const renumbered = await answer(["import", "-", anew, "--renumber", "--json"], { lines: out.split("\n") });
    // The hidden one took a position.
    expect(jsonOf(renumbered.out)).toMatchObject({ events: 92, keepsPlaces: false, otherPosition: 1, otherVersion: 0 });
    const plain = (lines: Record<string, unknown>[]): unknown =>
      lines.map(({ stream, version, id, type, data, dataBase64, metadata }) => [
        stream,
        version,
        id,
        type,
        data,
        dataBase64,
        metadata,
      ]);
    expect(plain(linesOf((await answer(["export", anew])).out))).toEqual(plain(events));
  });

  test("a store goes on behind what was imported with its places, and knows its ids", async () => {
    const dir = await store();
    const { out } = await answer(["export", dir, "--stream", "order-1", "--after", "50"]);
    const copy = `${dir}-one`;
    expect((await answer(["import", "-", copy], { lines: out.split("\n") })).code).toBe(0);
    const [first] = linesOf(out);
    const log = await openEventLog({ dir: copy });
    try {
      const { version } = await log.streamInfo("order-1");
      expect(version).toBe(linesOf(out).at(-1)?.["version"]);
      const event = { id: String(first?.["id"]), type: String(first?.["type"]), data: first?.["data"] };
      const metadata = first?.["metadata"];
      const again = await log.append("order-1", { ...event, ...(metadata === undefined ? {} : { metadata }) });
      expect([again.isDuplicate, again.position]).toEqual([true, first?.["position"]]);
      const next = await log.append("order-1", { type: "next" });
      expect([next.position, next.version]).toEqual([Number(linesOf(out).at(-1)?.["position"]) + 1, version + 1]);
    } finally {
      await log.close();
    }
  });

  test("lines that can't keep their places leave nothing, are told with their number, and can be imported once mended", async () => {
    const place = (position: number, version: number, more = ""): string =>
      `{"stream":"a","type":"t","position":${position},"version":${version},"time":5${more}}`;
    const dir = join(await directory(), "new");
    const wrong: readonly (readonly [string, string])[] = [
      [place(3, 2), "OUT_OF_ORDER: line 2"],
      [place(5, 2), "INVALID_ARGUMENT: line 2: position 5 comes twice"],
      [place(6, 3), "INVALID_ARGUMENT: line 2"],
      ['{"stream":"a","type":"t"}', "line 2 doesn't say position, version and time"],
      ["{", "line 2 isn't an event"],
    ];
    for (const [line, reason] of wrong) {
      const { code, err } = await answer(["import", "-", dir], { lines: [place(5, 1), line] });
      expect([code, err]).toEqual([2, has(reason)]);
      expect(err).toContain("Nothing is imported");
      expect((await answer(["export", dir])).out).toBe("");
    }
    expect((await answer(["import", "-", dir], { lines: [place(5, 1), place(6, 2)] })).code).toBe(0);
    expect(linesOf((await answer(["export", dir])).out)).toMatchObject([{ position: 5 }, { position: 6 }]);
    const there = await answer(["import", "-", dir], { lines: [place(7, 3)] });
    expect([there.code, there.err]).toEqual([2, has("--append")]);
  });

  test("some events: by position, stream, type and number", async () => {
    const dir = await store();
    const positions = async (...args: string[]): Promise<unknown[]> =>
      linesOf((await answer(["export", dir, ...args])).out).map(({ position }) => position);
    expect(await positions("--after", "91")).toEqual([93]);
    expect(await positions("--stream", "order-2", "--limit", "2")).toEqual([2, 7]);
    expect(await positions("--type", "raw", "--type", "paid", "--after", "85")).toEqual([87, 90, 91, 93]);
    expect(await positions("--stream-prefix", "by")).toEqual([91]);
  });

  test("any dataset", async () => {
    const dir = await store();
    const [hidden] = linesOf((await answer(["export", dir, "--dataset", "eventlog.streams"])).out);
    expect(hidden).toMatchObject({ key: "hidden", revision: 93, payloadBase64: has("") });
    const log = linesOf(
      (await answer(["export", dir, "--dataset", "eventlog.events", "--after", "90", "--limit", "1"])).out,
    );
    expect(log).toMatchObject([{ sort: 91, key: "bytes", version: 1, id: "raw" }]);
    for (const wrong of [
      ["--stream", "a"],
      ["--stream-prefix", "a"],
      ["--type", "a"],
      ["--after", "1"],
    ]) {
      const refused = await answer(["export", dir, "--dataset", "eventlog.streams", ...wrong]);
      expect([refused.code, refused.out, refused.err]).toEqual([2, "", has(wrong[0] ?? "")]);
    }
    const none = await answer(["export", dir, "--dataset", "none"]);
    expect([none.code, none.err]).toEqual([2, has("eventlog.events")]);
  });

  test("an import again stores nothing twice, and one into a store that is there wants --append", async () => {
    const dir = await store();
    const lines = (await answer(["export", dir])).out.split("\n");
    expect(await answer(["import", "-", dir], { lines })).toMatchObject({
      code: 2,
      err: has("--append"),
    });
    const again = await answer(["import", "-", dir, "--append", "--json"], { lines });
    expect(jsonOf(again.out)).toMatchObject({ events: 92, duplicates: 92 });
    expect(jsonOf((await answer(["stats", dir, "--json"])).out)).toMatchObject({ eventLog: { position: 93 } });
  });

  test("70 000 events that are imported again are all known, and those without an id are counted", async () => {
    const dir = join(await directory(), "large");
    const lines = Array.from(
      { length: 70_000 },
      (_, n) => `{"stream":"s-${n % 50}","type":"t","id":"i-${n}","data":${n}}`,
    );
    lines.push('{"stream":"s","type":"t"}');
    const first = jsonOf((await answer(["import", "-", dir, "--json"], { lines })).out);
    expect(first).toMatchObject({ events: 70_001, duplicates: 0, withoutId: 1 });
    const again = jsonOf((await answer(["import", "-", dir, "--append", "--json"], { lines })).out);
    expect(again).toMatchObject({ events: 70_001, duplicates: 70_000, withoutId: 1 });
  });

  test("an append that fails is told with its line, and what the lines behind it have become", async () => {
    const dir = await store();
    const lines = ['{"stream":"order-1","id":"e-1","type":"other"}', '{"stream":"a","type":"b"}'];
    const { code, err } = await answer(["import", "-", dir, "--append"], { lines });
    expect([code, err]).toEqual([2, has("ID_REUSED: line 1 wasn't stored")]);
    expect(err).toContain("at most up to line 2");
  });

  test.each([
    ["{", "isn't JSON"],
    ["[]", "isn't an object"],
    ['{"type":"a"}', "no stream"],
    ['{"stream":"a","type":"b","id":7}', "id isn't a string"],
    ['{"stream":"a","type":"b","dataBase64":"AQL"}', '"AQL"'],
    ['{"stream":"a","type":"b","dataBase64":"A Q L/"}', '"A Q L/"'],
    ['{"stream":"a","type":"b","dataBase64":"AQJ="}', '"AQJ="'],
    ['{"stream":"a","type":"b","dataBase64":"AQL_"}', '"AQL_"'],
    ['{"stream":"a","type":"b","data":1,"dataBase64":"AQI="}', "data and dataBase64"],
    ['{"stream":"a","type":"b","dta":1}', 'it has "dta", which isn\'t known (did you mean data?)'],
    ['{"stream":"a","type":"b","version":"7"}', "its version isn't a number"],
  ])("a line %s is refused with its number, and what stands before it is imported", async (line, reason) => {
    const dir = join(await directory(), "new");
    const { code, err } = await answer(["import", "-", dir], { lines: ['{"stream":"a","type":"b"}', line] });
    expect([code, err]).toEqual([2, has("line 2")]);
    expect(err).toContain(reason);
    expect(linesOf((await answer(["export", dir])).out)).toHaveLength(1);
    expect(err).toContain("Lines up to 1 are stored");
    // As it says: nothing twice, although the event has no id.
    expect(err).toContain("tail -n +2 FILE | ehdb import - DIR --append");
    expect((await answer(["import", "-", dir, "--append"], { lines: ['{"stream":"a","type":"c"}'] })).code).toBe(0);
    expect(linesOf((await answer(["export", dir])).out)).toMatchObject([{ type: "b" }, { type: "c" }]);
  });

  test.each([
    ["a file that isn't there", ["none.jsonl"], "there is no file none.jsonl"],
    ["a directory", ["."], "reading . failed"],
    ["a first line that isn't an event", ["-"], "Nothing is imported"],
  ])("%s leaves no store behind, and the command that is mended makes it", async (_, [file = ""], reason) => {
    const dir = join(await directory(), "new");
    const { code, stderr } = await shell(`printf '\\n{"a":1}\\n' | ehdb import ${file} ${dir}`, tmpdir());
    expect([code, stderr]).toEqual([expect.any(Number), has(reason)]);
    expect(code).not.toBe(0);
    expect(existsSync(dir)).toBe(false);
    expect((await answer(["import", "-", dir], { lines: ['{"stream":"a","type":"b"}'] })).code).toBe(0);
  });

  test("a store without an event log: its datasets are named", async () => {
    const dir = join(await directory(), "other");
    const engine = await openEngine({ dir, datasets: [{ name: "stock", order: "by-key" }] });
    await engine.commit((batch) => batch.put("stock", "blue", Buffer.from("41")));
    await engine.close();
    expect(await answer(["export", dir])).toMatchObject({ code: 2, err: has("stock") });
    expect(linesOf((await answer(["export", dir, "--dataset", "stock"])).out)).toMatchObject([
      { key: "blue", payload: "41" },
    ]);
    expect((await answer(["tail", dir])).code).toBe(2);
    expect((await answer(["stats", dir])).code).toBe(0);
  });
});

describe("writing", () => {
  test("merge makes one part a dataset, and changes no event", async () => {
    const dir = await store();
    const before = (await answer(["export", dir])).out;
    const merged = jsonOf((await answer(["merge", dir, "--json"])).out);
    expect(merged).toMatchObject({ before: { parts: 3 }, after: { parts: 1 }, merges: 1 });
    expect((await answer(["export", dir])).out).toBe(before);
    expect((await answer(["merge", dir, "--dataset", "none"])).code).toBe(2);
  });

  test("scavenge removes what was hidden from the disk", async () => {
    const dir = await store();
    const { code, out } = await answer(["scavenge", dir]);
    expect([code, out]).toEqual([0, has("parts")]);
    expect(linesOf((await answer(["export", dir])).out)).toHaveLength(92);
    expect((await answer(["verify", dir])).code).toBe(0);
  });

  test("a backup is whole, stays as it is, and is restored as another incarnation", async () => {
    const dir = await store();
    const before = (await answer(["export", dir])).out;
    const [backup, first, second] = [`${dir}-backup`, `${dir}-1`, `${dir}-2`];
    const { code, out } = await answer(["backup", dir, backup, "--json"]);
    expect([code, jsonOf(out)]).toEqual([0, expect.objectContaining({ revision: 95, parts: 3 })]);
    expect((await answer(["verify", backup])).code).toBe(0);
    for (const to of [first, second]) {
      expect(jsonOf((await answer(["restore", backup, to, "--json"])).out)).toMatchObject({ revision: 95, to });
      expect((await answer(["verify", to])).code).toBe(0);
    }
    expect((await answer(["restore", backup, first])).code).toBe(2);
    await answer(["scavenge", first]);
    expect((await answer(["export", first])).out).toBe(before);
    expect((await answer(["export", second])).out).toBe(before);
  });

  test("salvage brings all but the damaged block into a new store, and tells what is lost", async () => {
    const dir = await store();
    const events = linesOf((await answer(["export", dir])).out);
    const whole = await answer(["salvage", dir, `${dir}-whole`]);
    expect([whole.code, whole.out]).toEqual([0, has("Nothing is lost")]);
    const [name = ""] = await readdir(join(dir, "parts"));
    const part = join(dir, "parts", name);
    const bytes = await readFile(part);
    // Two bits: one alone can be mended.
    bytes[3000] = (bytes[3000] ?? 0) ^ 5;
    await writeFile(part, bytes);
    const { code, out } = await answer(["salvage", dir, `${dir}-saved`]);
    expect([code, out]).toEqual([1, has("LOST eventlog.events, positions")]);
    expect((await answer(["verify", `${dir}-saved`])).code).toBe(0);
    const saved = linesOf((await answer(["export", `${dir}-saved`])).out);
    expect(saved.length).toBeGreaterThan(30);
    expect(events).toEqual(expect.arrayContaining(saved));
    expect((await answer(["salvage", dir, join(dir, "within")])).code).toBe(2);
  });

  test("scrub verifies as the writer", async () => {
    const dir = await store();
    const { code, out } = await answer(["scrub", dir, "--bytes-per-second", "100000000", "--json"]);
    expect([code, jsonOf(out)]).toEqual([0, expect.objectContaining({ ok: true })]);
  });
});

test("keys come from files and variables, never from the command line in clear", async () => {
  const dir = join(await directory(), "secret");
  const key = Buffer.alloc(32, 7);
  const log = await openEventLog({ dir, encryption: { current: "k1", keys: { k1: key } } });
  await log.append("a", { type: "b" });
  await log.close();
  expect(await answer(["export", dir])).toMatchObject({ code: 2, err: has("KEY_MISSING") });
  const hex = Buffer.from(`${key.toString("hex")}\n`);
  expect((await answer(["export", dir, "--key", "k1=FILE"], { files: { FILE: hex } })).code).toBe(0);
  expect((await answer(["export", dir, "--key", "k1=FILE"], { files: { FILE: key } })).code).toBe(0);
  expect((await answer(["verify", dir], { env: { EHDB_KEY_k1: key.toString("base64") } })).code).toBe(0);
  expect((await answer(["merge", dir], { env: { EHDB_KEY_k1: key.toString("base64") } })).code).toBe(0);
  const wrong = await answer(["export", dir, "--key", "k1=FILE"], { files: { FILE: Buffer.from("topsecret") } });
  expect([wrong.code, wrong.err.includes("topsecret")]).toEqual([2, false]);
  const other = { env: { EHDB_KEY_k1: Buffer.alloc(32, 8).toString("hex") } };
  expect(await answer(["export", dir], other)).toMatchObject({ code: 2, err: has("WRONG_KEY") });
});

test("what is written is encrypted with the first key that is given, or the one that is named", async () => {
  const dir = await directory();
  const files = { A: Buffer.alloc(32, 1), B: Buffer.alloc(32, 2) };
  const both = ["--key", "9=A", "--key", "1=B"];
  const lines = ['{"stream":"a","type":"b"}'];
  expect((await answer(["import", "-", join(dir, "first"), ...both], { files, lines })).code).toBe(0);
  expect((await answer(["export", join(dir, "first"), "--key", "9=A"], { files })).code).toBe(0);
  const named = [...both, "--current-key", "1"];
  expect((await answer(["import", "-", join(dir, "named"), ...named], { files, lines })).code).toBe(0);
  expect((await answer(["export", join(dir, "named"), "--key", "1=B"], { files })).code).toBe(0);
  expect((await answer(["export", join(dir, "named"), "--key", "9=A"], { files })).code).toBe(2);
});

describe("what a store is written with", () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const env = { EHDB_KEY_one: one.toString("hex") };
  const files = { ONE: one, TWO: two };
  const lines = ['{"stream":"a","type":"b"}'];
  const newest = (dir: string): Promise<string | undefined> =>
    newestKeyId({ dir: join(dir, "journal"), host: realHost() });

  test("a plain store stays plain, whatever key a variable holds", async () => {
    const dir = await store();
    for (const args of [
      ["merge", dir],
      ["scavenge", dir],
      ["scrub", dir],
      ["backup", dir, `${dir}-backup`],
      ["import", "-", dir, "--append"],
      ["salvage", dir, `${dir}-saved`],
    ]) {
      expect([args[0], (await answer(args, { env, lines })).code]).toEqual([args[0], 0]);
    }
    for (const plain of [dir, `${dir}-backup`, `${dir}-saved`]) {
      expect(await newest(plain)).toBe("");
      expect((await answer(["export", plain])).code).toBe(0);
    }
    const given = await answer(["merge", dir, "--key", "two=TWO"], { files });
    expect([given.code, given.err]).toEqual([2, has("isn't encrypted")]);
    expect(await newest(dir)).toBe("");
  });

  test("an encrypted one goes on with its key, wherever that stands among those given, or with one that is named", async () => {
    const dir = join(await directory(), "secret");
    expect((await answer(["import", "-", dir, "--key", "two=TWO"], { files, lines })).code).toBe(0);
    const both = ["--key", "one=ONE", "--key", "two=TWO"];
    for (const args of [
      ["merge", dir, ...both],
      ["import", "-", dir, "--append", ...both],
      ["salvage", dir, `${dir}-saved`, ...both],
    ]) {
      expect([args[0], (await answer(args, { files, lines })).code]).toEqual([args[0], 0]);
    }
    expect([await newest(dir), await newest(`${dir}-saved`)]).toEqual(["two", "two"]);
    const missing = await answer(["merge", dir, "--key", "one=ONE"], { files });
    expect([missing.code, missing.err]).toEqual([2, has("encrypted with the key two, and given is one")]);
    expect((await answer(["merge", dir, ...both, "--current-key", "one"], { files })).code).toBe(0);
    expect(await newest(dir)).toBe("one");
  });

  test("of several variables one must be named for a new store", async () => {
    const dir = join(await directory(), "new");
    const several = { ...env, EHDB_KEY_two: two.toString("hex") };
    expect(await answer(["import", "-", dir], { env: several, lines })).toMatchObject({
      code: 2,
      err: has("one, two"),
    });
    expect((await answer(["import", "-", dir, "--current-key", "two"], { env: several, lines })).code).toBe(0);
    expect(await newest(dir)).toBe("two");
  });
});
