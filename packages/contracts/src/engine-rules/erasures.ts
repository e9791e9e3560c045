import type { Commit, Engine } from "../engine.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, keyLines, logLines, mapLines, put } from "./record.ts";

const all = ["1 a@1 0", "2 b@1 1", "3 a@2 2", "4 a@3 3", "5 b@2 4", "6 a@4 5", "7 c@1 6"];
const ofA = all.filter((line) => line.includes(" a@"));
const backwards = { direction: "backwards" } as const;

async function fill(engine: Engine): Promise<void> {
  for (const [i, key] of ["a", "b", "a", "a", "b", "a", "c"].entries()) await append(engine, key, `${i}`);
}

function erase(engine: Engine, key: string, below: number): Promise<Commit> {
  return engine.commit((batch) => batch.erase("events", key, below));
}

/** Of all that there was some may be gone by now, each by itself; the others are there, in their order. */
function sameBut(
  what: string,
  found: readonly string[],
  before: readonly string[],
  mayBeGone: readonly string[],
): void {
  same(
    what,
    found,
    before.filter((line) => !mayBeGone.includes(line) || found.includes(line)),
  );
}

export const erasureRules: readonly EngineRule[] = [
  claim("an erasure lets go what lies below its version under its key, and nothing else", async (engine) => {
    await fill(engine);
    await put(engine, "a", "kept");
    await engine.commit((batch) => batch.append("more", "a", bytes("kept")));
    await erase(engine, "a", 3);
    const gone = ["1 a@1 0", "3 a@2 2"];
    sameBut("the log", await logLines(engine), all, gone);
    sameBut("the log backwards", await logLines(engine, backwards), all.toReversed(), gone);
    sameBut("the key", await keyLines(engine, "a"), ofA, gone);
    sameBut("the key backwards", await keyLines(engine, "a", backwards), ofA.toReversed(), gone);
    same("from its version on", await keyLines(engine, "a", { from: 3 }), ["4 a@3 3", "6 a@4 5"]);
    same("another log", await logLines(engine, {}, "more"), ["1 a@1 kept"]);
    same("a map", await mapLines(engine), ["a=kept"]);
  }),

  claim("what is gone doesn't come back, whatever is committed", async (engine) => {
    await fill(engine);
    await erase(engine, "a", 4);
    let there = await logLines(engine);
    for (let i = 0; i < 6; i++) {
      await append(engine, "d", `${i}`);
      const now = (await logLines(engine)).filter((line) => !line.includes(" d@"));
      same(
        "what is there",
        now,
        there.filter((line) => now.includes(line)),
      );
      there = now;
    }
    sameBut("at last", there, all, ["1 a@1 0", "3 a@2 2", "4 a@3 3"]);
  }),

  claim("versions and positions go on behind what was erased, and expectations count it", async (engine) => {
    await fill(engine);
    await erase(engine, "a", 5);
    await erase(engine, "c", 2);
    const log = engine.log("events");
    same("the version and the end", [await log.version("a"), await log.version("c"), log.last], [4, 1, 7]);
    const none = await refused("CONFLICT", "nothing under the key", () =>
      engine.commit((batch) => {
        batch.expect("events", "a", "none");
        batch.append("events", "a", bytes("x"));
      }),
    );
    same("what there is", none.data["actual"], 4);
    const { appended } = await engine.commit((batch) => {
      batch.expect("events", "a", 4);
      batch.append("events", "a", bytes("next"));
    });
    same("the next place", appended, [{ sort: 8, version: 5 }]);
    same("the next record", await keyLines(engine, "a", { from: 5 }), ["8 a@5 next"]);
    for (let sort = 0; sort <= 8; sort++) log.assertContinues(sort, engine.epoch);
  }),

  claim("an erasure reaches only what earlier commits have appended, however large its version is", async (engine) => {
    await append(engine, "a", "earlier");
    const { appended } = await engine.commit((batch) => {
      batch.append("events", "a", bytes("before"));
      batch.erase("events", "a", Number.MAX_SAFE_INTEGER);
      batch.append("events", "a", bytes("behind"));
    });
    same("the places", appended, [
      { sort: 2, version: 2 },
      { sort: 3, version: 3 },
    ]);
    await append(engine, "a", "later");
    const lines = ["1 a@1 earlier", "2 a@2 before", "3 a@3 behind", "4 a@4 later"];
    sameBut("the log", await logLines(engine), lines, lines.slice(0, 1));
    same("from the second on", await keyLines(engine, "a", { from: 2 }), lines.slice(1));
  }),

  claim("the id of an erased record stays known as long as it would have been", async (engine) => {
    const first = await append(engine, "a", "one", "id");
    await append(engine, "a", "two");
    await erase(engine, "a", 3);
    const again = await append(engine, "a", "one", "id");
    same("the answer", [again.isDuplicate, again.revision, again.appended], [true, first.revision, first.appended]);
    await refused("ID_REUSED", "other content", () => append(engine, "a", "other", "id"));
  }),

  claim("to erase what isn't there is a commit like any other, and changes nothing", async (engine) => {
    const { revision, appended, isDuplicate } = await erase(engine, "a", 10);
    same("the commit", [revision, appended, isDuplicate, engine.revision], [1, [], false, 1]);
    await fill(engine);
    same("the next revision", (await erase(engine, "d", 10)).revision, 9);
    await erase(engine, "a", 1);
    same("the log", await logLines(engine), all);
    same("the version", await engine.log("events").version("d"), 0);
  }),

  claim("a commit that is refused erases nothing", async (engine) => {
    await fill(engine);
    await refused("CONFLICT", "a conflict", () =>
      engine.commit((batch) => {
        batch.erase("events", "a", 5);
        batch.expect("events", "a", 1);
      }),
    );
    for (let i = 0; i < 4; i++) await put(engine, "a", `${i}`);
    same("the log", await logLines(engine), all);
  }),

  claim("an erasure refuses a version that is none, a map, and what is no key", async (engine) => {
    await fill(engine);
    const wrong: readonly (readonly unknown[])[] = [
      ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "2", undefined].map((below) => [
        "events",
        "a",
        below,
      ]),
      ["state", "a", 2],
      ["none", "a", 2],
      ["events", "", 2],
      ["events", "\ud800", 2],
    ];
    for (const given of wrong) {
      const [dataset, key, below] = given as [string, string, number];
      const what = given.map(String).join(" ");
      await refused("INVALID_ARGUMENT", what, () =>
        engine.commit((batch) => {
          batch.append("more", "beside", bytes("x"));
          batch.erase(dataset, key, below);
        }),
      );
    }
    const long = "k".repeat(1025);
    await refused("TOO_LARGE", "a long key", () => engine.commit((batch) => batch.erase("events", long, 2)));
    same("the log", [engine.revision, await logLines(engine)], [7, all]);
  }),

  claim(
    "a log's first position is 1 as long as nothing was dropped, also when its first record is erased",
    async (engine) => {
      const log = engine.log("events");
      same("in an empty log", [log.first, engine.log("more").first], [1, 1]);
      await fill(engine);
      same("in one that isn't", [log.first, engine.log("events").first], [1, 1]);
      await erase(engine, "a", 5);
      for (let i = 0; i < 6; i++) await append(engine, "d", `${i}`);
      same("behind an erasure", log.first, 1);
      same("a scan from there", await logLines(engine, { from: log.first }), await logLines(engine));
      same("a scan from 0", await logLines(engine, { from: 0 }), await logLines(engine));
    },
  ),
];
