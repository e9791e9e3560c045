import type { Engine, MapScanOptions } from "../engine.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { begin, bytes, everything, mapLines, put, remove, valueLines } from "./record.ts";

/** In the byte order of UTF-8; the last but one sorts behind the last by UTF-16. */
const keys = ["B", "a", "a0", "a\uFFFF", "a\u{10000}", "b", "é", "\uE000", "\uFFFF", "\u{10000}"];

async function fill(engine: Engine): Promise<void> {
  const shuffled = [...keys.filter((_, i) => i % 2 === 1), ...keys.filter((_, i) => i % 2 === 0)];
  await engine.commit((batch) => {
    for (const key of shuffled.slice(0, 4)) batch.put("state", key, bytes("x"));
  });
  for (const key of shuffled.slice(4)) await put(engine, key, "x");
}

async function found(engine: Engine, options?: MapScanOptions): Promise<string[]> {
  return (await everything(engine.map("state").scan(options))).map(({ key }) => key);
}

export const mapScanRules: readonly EngineRule[] = [
  claim("a map is scanned in the byte order of its keys' UTF-8, surrogate pairs behind U+FFFF", async (engine) => {
    await fill(engine);
    same("keys", await found(engine), keys);
  }),

  claim("a scan of an empty map gives nothing", async (engine) => {
    same("keys", await found(engine), []);
    await put(engine, "a", "one");
    await remove(engine, "a");
    same("keys", await found(engine), []);
  }),

  claim("a prefix finds all keys that begin so, the prefix itself included, and no other", async (engine) => {
    await fill(engine);
    same("prefix a", await found(engine, { prefix: "a" }), ["a", "a0", "a\uFFFF", "a\u{10000}"]);
    same("prefix U+10000", await found(engine, { prefix: "\u{10000}" }), ["\u{10000}"]);
    same("prefix U+FFFF", await found(engine, { prefix: "\uFFFF" }), ["\uFFFF"]);
    same("a prefix that none has", await found(engine, { prefix: "ab" }), []);
    same("an empty prefix", await found(engine, { prefix: "" }), keys);
  }),

  claim("a scan's `from` is included, its `before` isn't, and neither need be there", async (engine) => {
    await fill(engine);
    same("from a0", await found(engine, { from: "a0" }), keys.slice(2));
    same("before b", await found(engine, { before: "b" }), keys.slice(0, 5));
    same("between", await found(engine, { from: "a0", before: "b" }), keys.slice(2, 5));
    same("from a1", await found(engine, { from: "a1", before: "c" }), keys.slice(3, 6));
    same("from U+FFFF", await found(engine, { from: "\uFFFF" }), ["\uFFFF", "\u{10000}"]);
    same("before U+10000", await found(engine, { before: "\u{10000}" }), keys.slice(0, 9));
    same("from and before one key", await found(engine, { from: "b", before: "b" }), []);
    same("crossed", await found(engine, { from: "b", before: "a" }), []);
    same("beyond the end", await found(engine, { from: "\u{10FFFF}" }), []);
    same("empty", [await found(engine, { from: "" }), await found(engine, { before: "" })], [keys, []]);
  }),

  claim("prefix, bounds and limit of a scan hold together", async (engine) => {
    await fill(engine);
    same("prefix, from", await found(engine, { prefix: "a", from: "a0" }), keys.slice(2, 5));
    same("prefix, before", await found(engine, { prefix: "a", before: "a\u{10000}" }), keys.slice(1, 4));
    same("prefix, from beyond it", await found(engine, { prefix: "a", from: "b" }), []);
    same("all", await found(engine, { prefix: "a", from: "a0", before: "b", limit: 2 }), keys.slice(2, 4));
  }),

  claim("a scan's limit counts values that are there", async (engine) => {
    await fill(engine);
    await remove(engine, "B");
    same("limit 0", await found(engine, { limit: 0 }), []);
    same("limit 3", await found(engine, { limit: 3 }), keys.slice(1, 4));
    same("limit 100", await found(engine, { limit: 100 }), keys.slice(1));
  }),

  claim("a scan of a map sees the moment of its first step, whatever is committed during it", async (engine) => {
    await fill(engine);
    const before = await mapLines(engine);
    const scan = await begin(engine.map("state").scan());
    await put(engine, "\u{10000}", "changed");
    await remove(engine, "\uFFFF");
    await put(engine, "\u{10FFFF}", "new");
    same("the scan", valueLines(await scan.rest()), before);
  }),

  claim("a scan of a map sees what was committed before its first step", async (engine) => {
    const scan = engine.map("state").scan();
    await put(engine, "a", "one");
    same("the scan", valueLines(await everything(scan)), ["a=one"]);
  }),

  claim("a scan of a map refuses limits and texts that are none, and options that there aren't", async (engine) => {
    const map = engine.map("state");
    for (const limit of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await refused("INVALID_ARGUMENT", `limit ${limit}`, () => everything(map.scan({ limit })));
    }
    for (const name of ["prefix", "from", "before"]) {
      const call = (text: unknown) => everything(map.scan({ [name]: text }));
      await refused("INVALID_ARGUMENT", `${name} with a lone surrogate`, () => call("a\uD800"));
      await refused("INVALID_ARGUMENT", `${name} that is a number`, () => call(1));
    }
    const wrong = { direction: "backwards" } as MapScanOptions;
    await refused("INVALID_OPTION", "an unknown option", () => everything(map.scan(wrong)));
  }),
];
