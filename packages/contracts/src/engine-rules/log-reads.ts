import type { Engine, LogReadOptions } from "../engine.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, begin, everything, keyLines, lines, logLines } from "./record.ts";

const all = ["1 a@1 0", "2 b@1 1", "3 a@2 2", "4 a@3 3", "5 b@2 4", "6 a@4 5", "7 c@1 6"];
const ofA = all.filter((line) => line.includes(" a@"));

async function fill(engine: Engine): Promise<void> {
  for (const [i, key] of ["a", "b", "a", "a", "b", "a", "c"].entries()) await append(engine, key, `${i}`);
}

export const logReadRules: readonly EngineRule[] = [
  claim("a log is scanned in order of position, and backwards in the opposite order", async (engine) => {
    await fill(engine);
    same("by default", await logLines(engine), all);
    same("forwards", await logLines(engine, { direction: "forwards" }), all);
    same("backwards", await logLines(engine, { direction: "backwards" }), all.toReversed());
  }),

  claim("a key is read in order of version, and backwards in the opposite order", async (engine) => {
    await fill(engine);
    same("by default", await keyLines(engine, "a"), ofA);
    same("forwards", await keyLines(engine, "a", { direction: "forwards" }), ofA);
    same("backwards", await keyLines(engine, "a", { direction: "backwards" }), ofA.toReversed());
  }),

  claim("there are no records in an empty log, nor under a key that has none", async (engine) => {
    same("an empty log", [await logLines(engine), await logLines(engine, { direction: "backwards" })], [[], []]);
    same("a key of it", await keyLines(engine, "a"), []);
    await fill(engine);
    same("another log", await logLines(engine, {}, "more"), []);
    for (const key of ["d", "aa", "A"]) same(`key ${key}`, await keyLines(engine, key), []);
    same("backwards", await keyLines(engine, "d", { direction: "backwards" }), []);
  }),

  claim("a scan's `from` is a position, included, in both directions", async (engine) => {
    await fill(engine);
    for (let from = 0; from <= 9; from++) {
      same(`from ${from}`, await logLines(engine, { from }), all.slice(Math.max(from - 1, 0)));
      const behind = all.slice(0, from).toReversed();
      same(`backwards from ${from}`, await logLines(engine, { from, direction: "backwards" }), behind);
    }
  }),

  claim("the `from` of a key's read is a version, included, in both directions", async (engine) => {
    await fill(engine);
    for (let from = 0; from <= 6; from++) {
      same(`from ${from}`, await keyLines(engine, "a", { from }), ofA.slice(Math.max(from - 1, 0)));
      const behind = ofA.slice(0, from).toReversed();
      same(`backwards from ${from}`, await keyLines(engine, "a", { from, direction: "backwards" }), behind);
    }
  }),

  claim("a read's limit cuts it off in its direction, and 0 leaves nothing", async (engine) => {
    await fill(engine);
    for (const limit of [0, 1, 4, 5, 100]) {
      same(`scan ${limit}`, await logLines(engine, { limit }), all.slice(0, limit));
      same(`read ${limit}`, await keyLines(engine, "a", { limit }), ofA.slice(0, limit));
      const backwards = { limit, direction: "backwards" } as const;
      same(`scan backwards ${limit}`, await logLines(engine, backwards), all.toReversed().slice(0, limit));
      same(`read backwards ${limit}`, await keyLines(engine, "a", backwards), ofA.toReversed().slice(0, limit));
    }
    same("with from", await logLines(engine, { from: 3, limit: 2 }), all.slice(2, 4));
    const back = { from: 3, limit: 2, direction: "backwards" } as const;
    same("backwards with from", await keyLines(engine, "a", back), ["4 a@3 3", "3 a@2 2"]);
  }),

  claim("a read of a log sees the moment of its first step, whatever is committed during it", async (engine) => {
    await fill(engine);
    const log = engine.log("events");
    const reads = [
      { batches: log.scan(), ought: all },
      { batches: log.scan({ from: 1, limit: 100 }), ought: all },
      { batches: log.read("a"), ought: ofA },
      { batches: log.read("a", { direction: "backwards" }), ought: ofA.toReversed() },
    ];
    const begun = [];
    for (const { batches, ought } of reads) begun.push({ read: await begin(batches), ought });
    for (let i = 0; i < 5; i++) await append(engine, "a", "later");
    for (const { read, ought } of begun) same("the read", lines(await read.rest()), ought);
  }),

  claim("a read of a log sees what was committed before its first step", async (engine) => {
    const [scan, read] = [engine.log("events").scan(), engine.log("events").read("a")];
    await append(engine, "a", "one");
    same("the scan", lines(await everything(scan)), ["1 a@1 one"]);
    same("the read", lines(await everything(read)), ["1 a@1 one"]);
  }),

  claim("a read may be left before its end, and read again", async (engine) => {
    await fill(engine);
    for await (const batch of engine.log("events").scan()) {
      same("the first", lines(batch)[0], all[0]);
      break;
    }
    same("the log", await logLines(engine), all);
  }),

  claim(
    "reads of a log refuse places, limits and directions that are none, and options that there aren't",
    async (engine) => {
      const log = engine.log("events");
      const wrong: readonly object[] = [
        ...[-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1"].flatMap((value) => [{ from: value }, { limit: value }]),
        { direction: "sideways" },
      ];
      for (const options of wrong as readonly LogReadOptions[]) {
        const what = Object.entries(options).flat().join(" ");
        await refused("INVALID_ARGUMENT", `scan, ${what}`, () => everything(log.scan(options)));
        await refused("INVALID_ARGUMENT", `read, ${what}`, () => everything(log.read("a", options)));
      }
      const unknown = { after: 1 } as LogReadOptions;
      await refused("INVALID_OPTION", "scan, an unknown option", () => everything(log.scan(unknown)));
      await refused("INVALID_OPTION", "read, an unknown option", () => everything(log.read("a", unknown)));
    },
  ),

  claim("a log continues from every place that was read in it, and from 0", async (engine) => {
    const log = engine.log("events");
    log.assertContinues(0, engine.epoch);
    await fill(engine);
    for (let sort = 0; sort <= 7; sort++) log.assertContinues(sort, engine.epoch);
    await refused("OUT_OF_RANGE", "beyond the end", () => log.assertContinues(8, engine.epoch));
    await refused("OUT_OF_RANGE", "in an empty log", () => engine.log("more").assertContinues(1, engine.epoch));
    await refused("TRUNCATED", "an epoch still to come", () => log.assertContinues(1, engine.epoch + 1));
    log.assertContinues(0, engine.epoch + 1);
    await refused("INVALID_ARGUMENT", "a negative place", () => log.assertContinues(-1, engine.epoch));
    await refused("INVALID_ARGUMENT", "half a place", () => log.assertContinues(0.5, engine.epoch));
    await refused("INVALID_ARGUMENT", "epoch 0", () => log.assertContinues(1, 0));
  }),
];
