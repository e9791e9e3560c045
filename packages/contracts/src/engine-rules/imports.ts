import type { Engine, ImportedRecord, ImportOptions, ImportResult } from "../engine.ts";
import { claim, refused, same, turns } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, begin, bytes, everything, keyLines, logLines, mapLines, put } from "./record.ts";

/** A record from its line, `sort key@version text`; its time is its sort key, and more. */
export function imported(line: string, more: Partial<ImportedRecord> = {}): ImportedRecord {
  const [place = "", key = "", version = "", text = ""] = line.split(/[ @]/);
  return {
    sort: Number(place),
    key,
    version: Number(version),
    time: 1000 + Number(place),
    payload: bytes(text),
    ...more,
  };
}

export function bring(
  engine: Engine,
  lines: readonly string[],
  options?: ImportOptions,
  dataset = "events",
): Promise<ImportResult> {
  return engine.import(dataset, [lines.map((line) => imported(line))], options);
}

/** A source that gives a batch each time that it's told to. */
export class Fed {
  #asked = 0;
  #give: ((step: IteratorResult<readonly ImportedRecord[], undefined>) => void) | undefined;
  #waiting: { readonly number: number; readonly resolve: () => void }[] = [];

  give(...lines: readonly string[]): void {
    this.#give?.({ done: false, value: lines.map((line) => imported(line)) });
  }

  end(): void {
    this.#give?.({ done: true, value: undefined });
  }

  /** Until the batch of this number is asked for. */
  async askedFor(number: number): Promise<void> {
    if (this.#asked < number) await new Promise<void>((resolve) => this.#waiting.push({ number, resolve }));
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly ImportedRecord[], undefined> {
    return {
      next: () => {
        this.#asked++;
        for (const { number, resolve } of this.#waiting) if (number <= this.#asked) resolve();
        return new Promise((resolve) => (this.#give = resolve));
      },
    };
  }
}

const some = ["3 a@2 one", "4 b@7 two", "9 a@3 three", "10 c@1 four"];

export const importRules: readonly EngineRule[] = [
  claim("an import keeps sort keys with their gaps, versions and times", async (engine) => {
    same("the result", await bring(engine, some), { records: 4, outOfOrder: 0, first: 3, last: 10 });
    const log = engine.log("events");
    same("the log", await logLines(engine), some);
    same("backwards", await logLines(engine, { direction: "backwards" }), some.toReversed());
    same("a key", await keyLines(engine, "a"), ["3 a@2 one", "9 a@3 three"]);
    same("from a gap on", await logLines(engine, { from: 5 }), some.slice(2));
    same("a key from a version on", await keyLines(engine, "b", { from: 7 }), ["4 b@7 two"]);
    same("the ends", [log.first, log.last], [1, 10]);
    same("versions", [await log.version("a"), await log.version("b"), await log.version("d")], [3, 7, 0]);
    const times = (await everything(log.scan())).map(({ time }) => time);
    same("times", times, [1003, 1004, 1009, 1010]);
    for (const sort of [0, 1, 5, 10]) log.assertContinues(sort, engine.epoch);
    await refused("OUT_OF_RANGE", "beyond the end", () => log.assertContinues(11, engine.epoch));
  }),

  claim("an import takes two revisions, and its records have the first", async (engine) => {
    await put(engine, "a", "before");
    await bring(engine, some);
    same("the revision", engine.revision, 3);
    const revisions = (await everything(engine.log("events").scan())).map(({ revision }) => revision);
    same("those of its records", revisions, [2, 2, 2, 2]);
    same("the next one", (await put(engine, "a", "behind")).revision, 4);
  }),

  claim("commits go on behind what was imported, dense, and expectations count it", async (engine) => {
    await bring(engine, some);
    const { appended, time } = await engine.commit((batch) => {
      batch.expect("events", "a", 3);
      batch.append("events", "a", bytes("next"));
      batch.append("events", "d", bytes("new"));
      batch.append("events", "a", bytes("more"));
    });
    same("their places", appended, [
      { sort: 11, version: 4 },
      { sort: 12, version: 1 },
      { sort: 13, version: 5 },
    ]);
    same("the time doesn't fall", time >= 1010, true);
    const conflict = await refused("CONFLICT", "nothing under a key", () =>
      engine.commit((batch) => {
        batch.expect("events", "b", "none");
        batch.append("events", "b", bytes("x"));
      }),
    );
    same("what is there", conflict.data["actual"], 7);
    same("the log", await logLines(engine), [...some, "11 a@4 next", "12 d@1 new", "13 a@5 more"]);
  }),

  claim("times go on from an imported one, also when that is still to come", async (engine) => {
    const late = 4_000_000_000_000;
    await engine.import("events", [[imported("1 a@1 x", { time: late })]]);
    same("not before it", (await append(engine, "a", "y")).time >= late, true);
  }),

  claim("imported ids are known as long as the window reaches", async (engine) => {
    const ids = ["1 a@1 one", "2 b@1 two", "9 a@2 three", "10 a@3 four"];
    await engine.import("events", [ids.map((line, i) => imported(line, { id: `id-${i}` }))]);
    const again = await append(engine, "a", "three", "id-2");
    same("one of the newest", [again.isDuplicate, again.appended], [true, [{ sort: 9, version: 2 }]]);
    await refused("ID_REUSED", "other content", () => append(engine, "a", "other", "id-3"));
    same("another key", (await append(engine, "c", "three", "id-2")).isDuplicate, false);
    same("beyond the window", (await append(engine, "b", "two", "id-1")).isDuplicate, false);
  }),

  claim("an id may come again under its key when the window doesn't reach to it any more", async (engine) => {
    const at = (sort: number, version: number) => imported(`${sort} a@${version} x`, { id: "id" });
    await engine.import("events", [[at(1, 1)], [at(10, 2)]]);
    same("the log", await logLines(engine), ["1 a@1 x", "10 a@2 x"]);
    const again = await append(engine, "a", "x", "id");
    same("the newest", [again.isDuplicate, again.appended], [true, [{ sort: 10, version: 2 }]]);
  }),

  claim("nothing of an import can be read before all of it can", async (engine) => {
    const fed = new Fed();
    const importing = engine.import("events", fed);
    const log = engine.log("events");
    const old = begin(log.scan());
    await fed.askedFor(1);
    fed.give(...some.slice(0, 2));
    await fed.askedFor(2);
    same("meanwhile", [await logLines(engine), log.last, await log.version("a")], [[], 0, 0]);
    fed.give(...some.slice(2));
    await fed.askedFor(3);
    same("before the end", [await logLines(engine), log.last], [[], 0]);
    fed.end();
    await importing;
    same("then", [await logLines(engine), log.last], [some, 10]);
    same("a read that began before", await (await old).rest(), []);
  }),

  claim("a batch is asked for when the one before it has been taken in, and may be used again then", async (engine) => {
    const memory = bytes("one");
    const batch = [imported("1 a@1 x", { payload: memory })];
    const asked: number[] = [];
    const source = {
      *[Symbol.iterator]() {
        asked.push(1);
        yield batch;
        memory.fill(0);
        batch[0] = imported("2 a@2 two");
        asked.push(2);
        yield batch;
      },
    };
    await engine.import("events", source);
    same(
      "the log",
      [asked, await logLines(engine)],
      [
        [1, 2],
        ["1 a@1 one", "2 a@2 two"],
      ],
    );
  }),

  claim("who waits for news is told of an import", async (engine) => {
    const fed = new Fed();
    const importing = engine.import("events", fed);
    await fed.askedFor(1);
    fed.give(...some);
    await fed.askedFor(2);
    let told = 0;
    const { revision } = engine;
    const news = engine.news(revision).then(() => told++);
    await turns();
    same("before", told, 0);
    fed.end();
    await importing;
    await news;
    same("more is readable", engine.revision > revision, true);
  }),

  claim("other datasets take commits meanwhile, and the log that is imported none", async (engine) => {
    const fed = new Fed();
    const importing = engine.import("events", fed);
    await fed.askedFor(1);
    fed.give(...some);
    await fed.askedFor(2);
    await put(engine, "a", "beside");
    await engine.commit((batch) => batch.append("more", "a", bytes("beside")));
    const locked = await refused("LOCKED", "an append", () => append(engine, "a", "x"));
    same("which", locked.data["dataset"], "events");
    await refused("LOCKED", "with another", () =>
      engine.commit((batch) => {
        batch.put("state", "a", bytes("not this"));
        batch.erase("events", "a", 1);
      }),
    );
    await refused("LOCKED", "another import", () => bring(engine, some));
    fed.end();
    await importing;
    same("all", [await logLines(engine), await mapLines(engine)], [some, ["a=beside"]]);
    same("the other log", await logLines(engine, {}, "more"), ["1 a@1 beside"]);
    same("the next", (await append(engine, "a", "x")).appended, [{ sort: 11, version: 4 }]);
  }),

  claim("two logs are imported at once, each by itself", async (engine) => {
    const fed = new Fed();
    const importing = engine.import("events", fed);
    await fed.askedFor(1);
    await bring(engine, ["7 a@7 more"], {}, "more");
    fed.give(...some);
    await fed.askedFor(2);
    fed.end();
    await importing;
    same("both", [await logLines(engine), await logLines(engine, {}, "more")], [some, ["7 a@7 more"]]);
  }),

  claim("an import of nothing changes nothing", async (engine) => {
    const nothing = { records: 0, outOfOrder: 0, first: 0, last: 0 };
    same("no batches", await engine.import("events", []), nothing);
    same("empty ones", await engine.import("events", [[], []]), nothing);
    same("the revision", engine.revision, 0);
    same("then one of something", (await engine.import("events", [[], [imported("1 a@1 x")]])).records, 1);
  }),

  claim("disorder that is counted is put in order", async (engine) => {
    const [one = "", two = "", three = "", four = ""] = some;
    const result = await bring(engine, [two, one, four, three], { disorder: "count" });
    same("the result", result, { records: 4, outOfOrder: 2, first: 3, last: 10 });
    same("the log", await logLines(engine), some);
    same("a key", await keyLines(engine, "a"), ["3 a@2 one", "9 a@3 three"]);
  }),

  claim("disorder finds its place among the newest 4 096 records, and isn't taken beyond", async (engine) => {
    const many = Array.from({ length: 4097 }, (_, i) => `${i + 2} k@${i + 2} x`);
    const near = [...many.slice(0, 4096), "1 k@1 x"];
    const { outOfOrder } = await bring(engine, near, { disorder: "count" });
    same("as near as that", [outOfOrder, (await logLines(engine, { limit: 2 }))[0]], [1, "1 k@1 x"]);
    const late = await refused("OUT_OF_ORDER", "one record later", () =>
      bring(engine, [...many, "1 k@1 x"], { disorder: "count" }, "more"),
    );
    same("the two", [late.data["sort"], late.data["before"]], [1, 2]);
  }),
];
