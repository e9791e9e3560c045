import { claim, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, everything, logLines, put, textOf, valueOf } from "./record.ts";

export const appendRules: readonly EngineRule[] = [
  claim("the first record of a log has position 1, version 1 and revision 1", async (engine) => {
    const commit = await append(engine, "a", "one");
    same("the commit", [commit.revision, commit.appended, commit.isDuplicate], [1, [{ sort: 1, version: 1 }], false]);
    same("the log", await logLines(engine), ["1 a@1 one"]);
  }),

  claim("positions are dense over a log, and versions under each of its keys", async (engine) => {
    for (const [i, key] of ["a", "b", "a", "c", "b", "a"].entries()) await append(engine, key, `${i}`);
    same("the log", await logLines(engine), ["1 a@1 0", "2 b@1 1", "3 a@2 2", "4 c@1 3", "5 b@2 4", "6 a@3 5"]);
  }),

  claim("a commit says where each of its appends went, in the order they were stated", async (engine) => {
    await append(engine, "a", "before");
    const { appended } = await engine.commit((batch) => {
      batch.append("events", "b", bytes("1"));
      batch.append("more", "a", bytes("2"));
      batch.append("events", "a", bytes("3"));
      batch.put("state", "a", bytes("between"));
      batch.append("events", "a", bytes("4"));
    });
    const places = appended.map(({ sort, version }) => `${sort}@${version}`);
    same("the places", places, ["2@1", "1@1", "3@2", "4@3"]);
    same("events", await logLines(engine), ["1 a@1 before", "2 b@1 1", "3 a@2 3", "4 a@3 4"]);
    same("more", await logLines(engine, {}, "more"), ["1 a@1 2"]);
  }),

  claim("a commit without appends has none", async (engine) => {
    same("appended", (await put(engine, "a", "one")).appended, []);
  }),

  claim("a record is read as it was appended, with the revision and time of its commit", async (engine) => {
    await append(engine, "a", "before");
    const commit = await append(engine, "kéy", "päyload", "ïd");
    const [record] = await everything(engine.log("events").read("kéy"));
    if (record === undefined) throw new Error("there is no record");
    const { payload } = record;
    const { payload: _, memory, start, end, ...rest } = record;
    const place = { sort: 2, key: "kéy", version: 1, revision: commit.revision, time: commit.time, id: "ïd" };
    same("its names", Object.keys(rest).sort(), Object.keys(place).sort());
    same("the record", { ...place, ...rest }, place);
    same("the payload", textOf(payload), "päyload");
    same("what memory holds from start to end", textOf(memory.subarray(start, end)), "päyload");
  }),

  claim("a record that was appended without an id has none", async (engine) => {
    await append(engine, "a", "one");
    await append(engine, "a", "two", "id");
    const records = await everything(engine.log("events").scan());
    same(
      "ids",
      records.map(({ id }) => id),
      [undefined, "id"],
    );
  }),

  claim("an empty payload is a payload", async (engine) => {
    await append(engine, "a", "");
    await put(engine, "a", "");
    same("the log", await logLines(engine), ["1 a@1 "]);
    same("the value", await valueOf(engine, "a"), "");
  }),

  claim("logs count apart, and a key of a log has nothing to do with the same key of a map", async (engine) => {
    await append(engine, "a", "one");
    await engine.commit((batch) => batch.append("more", "a", bytes("two")));
    await put(engine, "a", "three");
    same("events", await logLines(engine), ["1 a@1 one"]);
    same("more", await logLines(engine, {}, "more"), ["1 a@1 two"]);
    same("state", await valueOf(engine, "a"), "three");
    same("other", await valueOf(engine, "a", "other"), undefined);
  }),

  claim("what is done to a payload after the call changes nothing of what is stored", async (engine) => {
    const payload = bytes("before");
    const committed = engine.commit((batch) => {
      batch.append("events", "a", payload);
      batch.put("state", "a", payload);
    });
    payload.fill(0);
    await committed;
    same("the log", await logLines(engine), ["1 a@1 before"]);
    same("the value", await valueOf(engine, "a"), "before");
  }),

  claim("of a view of a larger buffer only the view is stored, and nothing else is read", async (engine) => {
    const payload = bytes("left|within|right").subarray(5, 11);
    await engine.commit((batch) => {
      batch.append("events", "a", payload);
      batch.put("state", "a", payload);
    });
    const [record] = await everything(engine.log("events").scan());
    const value = await engine.map("state").get("a");
    for (const read of [record?.payload, value?.payload]) {
      same("a payload is bytes", read instanceof Uint8Array, true);
      same("its text and length", [textOf(read), read?.length], ["within", 6]);
    }
  }),

  claim(
    "the version of a key and the last position are those of the last record, and 0 before the first",
    async (engine) => {
      const log = engine.log("events");
      same("at first", [log.name, log.last, await log.version("a")], ["events", 0, 0]);
      await append(engine, "a", "one");
      await append(engine, "a", "two");
      await append(engine, "b", "three");
      same("then", [log.last, await log.version("a"), await log.version("b"), await log.version("c")], [3, 2, 1, 0]);
      same("another log", [engine.log("more").last, await engine.log("more").version("a")], [0, 0]);
    },
  ),
];
