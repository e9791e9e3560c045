import type { Commit, Engine } from "../engine.ts";
import { engineRuleDedupeWindow as window } from "./claim.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, logLines, mapLines, put, valueOf } from "./record.ts";

/** Records to be appended: dataset, key, id, text. */
type Wanted = readonly (readonly [string, string, string | undefined, string])[];

function appendAll(engine: Engine, wanted: Wanted): Promise<Commit> {
  return engine.commit((batch) => {
    for (const [dataset, key, id, text] of wanted) batch.append(dataset, key, bytes(text), id);
  });
}

const pair: Wanted = [
  ["events", "a", "1", "one"],
  ["events", "a", "2", "two"],
];

/** The batch is refused, names this id, and leaves everything as it was. */
async function reused(engine: Engine, what: string, wanted: Wanted, id: string): Promise<void> {
  const before = [engine.revision, await logLines(engine), await logLines(engine, {}, "more")];
  const error = await refused("ID_REUSED", what, () => appendAll(engine, wanted));
  same(`${what}: the data`, [error.data["dataset"], error.data["key"], error.data["id"]], ["events", "a", id]);
  const after = [engine.revision, await logLines(engine), await logLines(engine, {}, "more")];
  same(`${what}: what is stored`, after, before);
}

/** So many records that have nothing to do with anything. */
async function others(engine: Engine, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await append(engine, "others", "x");
}

export const idRules: readonly EngineRule[] = [
  claim("the same batch again writes nothing, and gets its first result, marked", async (engine) => {
    const batch: Wanted = [...pair, ["more", "b", "1", "three"], ["events", "c", "1", "four"]];
    const first = await appendAll(engine, batch);
    await append(engine, "a", "between");
    const again = await appendAll(engine, batch);
    same("first", first.isDuplicate, false);
    same("again", [again.revision, again.time, again.appended], [first.revision, first.time, first.appended]);
    same("the mark", again.isDuplicate, true);
    same("the revision", engine.revision, 2);
    same("the logs", [(await logLines(engine)).length, (await logLines(engine, {}, "more")).length], [4, 1]);
  }),

  claim("a batch is known again before the first one was waited for, and its answer can be read", async (engine) => {
    const first = appendAll(engine, pair);
    const again = await appendAll(engine, pair);
    same("readable", [engine.revision, engine.log("events").last], [1, 2]);
    same("the two", [again.isDuplicate, again.appended], [true, (await first).appended]);
  }),

  claim("a batch is known again before its expectations are looked at", async (engine) => {
    const create = () =>
      engine.commit((batch) => {
        batch.expect("events", "a", "none");
        batch.append("events", "a", bytes("one"), "1");
      });
    await create();
    same("again", (await create()).isDuplicate, true);
  }),

  claim("what a batch puts and deletes beside appends that were there already isn't written", async (engine) => {
    await put(engine, "gone", "before");
    const write = (text: string) =>
      engine.commit((batch) => {
        batch.append("events", "a", bytes("one"), "1");
        batch.put("state", "a", bytes(text));
        batch.delete("state", "deleted");
      });
    await write("first");
    await put(engine, "deleted", "later");
    same("again", (await write("second")).isDuplicate, true);
    same("the map", await mapLines(engine), ["a=first", "deleted=later", "gone=before"]);
  }),

  claim("a part of what one commit appended is known again, in its order", async (engine) => {
    const first = await appendAll(engine, [...pair, ["events", "a", "3", "three"]]);
    const part = await appendAll(engine, [
      ["events", "a", "1", "one"],
      ["events", "a", "3", "three"],
    ]);
    same("the part", [part.isDuplicate, part.appended], [true, [first.appended[0], first.appended[2]]]);
  }),

  claim(
    "a known id is refused with other content, in another order, in other company, or of two commits",
    async (engine) => {
      await appendAll(engine, pair);
      await append(engine, "a", "three", "3");
      const [one, two] = pair as [Wanted[0], Wanted[0]];
      await reused(engine, "other content", [one, ["events", "a", "2", "zwei"]], "1");
      await reused(engine, "more content", [["events", "a", "1", "one."]], "1");
      await reused(engine, "no content", [["events", "a", "1", ""]], "1");
      await reused(engine, "another order", [two, one], "2");
      await reused(engine, "beside a new id", [["events", "a", "4", "four"], two], "2");
      await reused(engine, "beside a new id without content", [["events", "a", "4", ""], two], "2");
      await reused(engine, "beside a record without an id", [["events", "a", undefined, "one"], two], "2");
      await reused(engine, "of two commits", [two, ["events", "a", "3", "three"]], "2");
      await reused(engine, "beside another log's", [one, ["more", "a", "2", "two"]], "1");
    },
  ),

  claim("appends that one commit made to two logs are known again, whichever log comes first", async (engine) => {
    const [one, two] = [["events", "a", "1", "one"] as const, ["more", "a", "1", "two"] as const];
    const first = await appendAll(engine, [one, two]);
    const again = await appendAll(engine, [two, one]);
    same("again", [again.isDuplicate, again.appended], [true, first.appended.toReversed()]);
  }),

  claim("an id belongs to its key in its log, and is new anywhere else", async (engine) => {
    await appendAll(engine, [["events", "a", "1", "one"]]);
    same("another key", (await appendAll(engine, [["events", "b", "1", "two"]])).isDuplicate, false);
    same("another log", (await appendAll(engine, [["more", "a", "1", "three"]])).isDuplicate, false);
    const several = await appendAll(engine, [
      ["events", "c", "1", "four"],
      ["events", "d", "1", "five"],
    ]);
    same("two keys of a batch", several.isDuplicate, false);
    same("the log", (await logLines(engine)).length, 4);
  }),

  claim("an id that is given twice in a batch under one key is refused", async (engine) => {
    const twice: Wanted = [
      ["events", "a", "1", "one"],
      ["events", "a", "1", "one"],
    ];
    await refused("INVALID_ARGUMENT", "the batch", () => appendAll(engine, twice));
    same("what is stored", [engine.revision, await logLines(engine)], [0, []]);
  }),

  claim("records without ids are never taken for known ones", async (engine) => {
    for (let i = 0; i < 2; i++) same("the mark", (await append(engine, "a", "one")).isDuplicate, false);
    for (let i = 0; i < 2; i++) same("the mark", (await put(engine, "a", "one")).isDuplicate, false);
    same("the log", await logLines(engine), ["1 a@1 one", "2 a@2 one"]);
  }),

  claim("an id is known as long as its record is one of the newest of the window", async (engine) => {
    await append(engine, "a", "one", "1");
    await others(engine, window - 1);
    same("the repeat", (await append(engine, "a", "one", "1")).isDuplicate, true);
    await reused(engine, "other content", [["events", "a", "1", "uno"]], "1");
  }),

  claim("an id isn't known any more behind the window: it's appended again, and known anew", async (engine) => {
    await append(engine, "a", "one", "1");
    await others(engine, window);
    const again = await append(engine, "a", "uno", "1");
    same("again", [again.isDuplicate, again.appended], [false, [{ sort: window + 2, version: 2 }]]);
    same("the repeat", (await append(engine, "a", "uno", "1")).appended, again.appended);
    await reused(engine, "the old content", [["events", "a", "1", "one"]], "1");
  }),

  claim("a batch half of which is behind the window isn't known again", async (engine) => {
    await appendAll(engine, pair);
    await others(engine, window - 1);
    await reused(engine, "both", pair, "2");
    same("the forgotten one alone", (await append(engine, "a", "one", "1")).isDuplicate, false);
  }),

  claim("the window counts the records of the id's own log, as they were before the batch", async (engine) => {
    await append(engine, "a", "one", "1");
    for (let i = 0; i < window; i++) await engine.commit((batch) => batch.append("more", "x", bytes("x")));
    for (let i = 0; i < window; i++) await put(engine, "x", "x");
    await others(engine, window - 1);
    const late: Wanted = [
      ...Array.from({ length: window }, (_, i) => ["events", "b", `new ${i}`, "x"] as const),
      ["events", "a", "1", "one"],
    ];
    await reused(engine, "behind enough records of its own batch", late, "1");
    same("the value", await valueOf(engine, "x"), "x");
  }),

  claim("a batch may append more records with ids than the window holds", async (engine) => {
    const many: Wanted = Array.from({ length: window + 3 }, (_, i) => ["events", "a", `${i}`, "x"] as const);
    same("appended", (await appendAll(engine, many)).appended.length, window + 3);
    const known = await appendAll(engine, many.slice(3));
    same("the newest", [known.isDuplicate, known.appended[0]], [true, { sort: 4, version: 4 }]);
    same("the oldest", (await appendAll(engine, many.slice(0, 3))).isDuplicate, false);
  }),
];
