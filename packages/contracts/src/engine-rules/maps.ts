import { claim, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { bytes, mapLines, put, remove, textOf, valueOf } from "./record.ts";

export const mapRules: readonly EngineRule[] = [
  claim("a value is read as it was put, with the revision and time of its commit", async (engine) => {
    await put(engine, "other", "before");
    const commit = await put(engine, "kéy", "välue");
    const { payload, ...rest } = (await engine.map("state").get("kéy")) ?? {};
    const ought = { key: "kéy", revision: commit.revision, time: commit.time };
    same("its names", Object.keys(rest).sort(), Object.keys(ought).sort());
    same("the value", { ...ought, ...rest }, ought);
    same("the payload", textOf(payload), "välue");
  }),

  claim("there is nothing under a key that was never put", async (engine) => {
    same("before any put", await engine.map("state").get("a"), undefined);
    await put(engine, "b", "one");
    same("beside another", await engine.map("state").get("a"), undefined);
    same("the name", engine.map("state").name, "state");
  }),

  claim("a put supersedes what was there, with a revision of its own", async (engine) => {
    await put(engine, "a", "one");
    await put(engine, "b", "two");
    const { revision } = await put(engine, "a", "three");
    const value = await engine.map("state").get("a");
    same("the value", [textOf(value?.payload), value?.revision], ["three", revision]);
    same("the map", await mapLines(engine), ["a=three", "b=two"]);
  }),

  claim("a deleted key is gone from reads and scans, until it is put again", async (engine) => {
    await put(engine, "a", "one");
    await put(engine, "b", "two");
    await remove(engine, "a");
    same("the value", await engine.map("state").get("a"), undefined);
    same("the map", await mapLines(engine), ["b=two"]);
    await put(engine, "a", "three");
    same("the value put again", await valueOf(engine, "a"), "three");
    same("the map", await mapLines(engine), ["a=three", "b=two"]);
  }),

  claim("deleting what isn't there is a commit like any other", async (engine) => {
    const commit = await remove(engine, "a");
    same("the commit", [commit.revision, engine.revision, commit.isDuplicate], [1, 1, false]);
    same("the map", await mapLines(engine), []);
  }),

  claim("of several puts of a key in one batch the last one holds", async (engine) => {
    await engine.commit((batch) => {
      batch.put("state", "a", bytes("one"));
      batch.put("state", "b", bytes("two"));
      batch.put("state", "a", bytes("three"));
    });
    same("the map", await mapLines(engine), ["a=three", "b=two"]);
    same("the value", await valueOf(engine, "a"), "three");
  }),

  claim("of a put and a delete of a key in one batch the one stated last holds", async (engine) => {
    await put(engine, "gone", "before");
    await engine.commit((batch) => {
      batch.put("state", "gone", bytes("one"));
      batch.delete("state", "gone");
      batch.delete("state", "there");
      batch.put("state", "there", bytes("two"));
    });
    same("the map", await mapLines(engine), ["there=two"]);
    same("values", [await valueOf(engine, "gone"), await valueOf(engine, "there")], [undefined, "two"]);
  }),

  claim("maps hold their keys apart", async (engine) => {
    await put(engine, "a", "one");
    await engine.commit((batch) => batch.put("other", "a", bytes("two")));
    await remove(engine, "a");
    same("state", await mapLines(engine), []);
    same("other", await mapLines(engine, {}, "other"), ["a=two"]);
  }),
];
