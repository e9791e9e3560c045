import type { Engine } from "../engine.ts";
import { OPERATION_BYTES } from "../engine.ts";
import { MAX_NAME_BYTES, MAX_WRITE_BYTES } from "../limits.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, everything, keyLines, logLines, mapLines, put, remove, valueOf } from "./record.ts";

/** Every call that takes a key, and the one that takes an id. */
function callsWith(engine: Engine, name: string): readonly (() => unknown)[] {
  return [
    () => append(engine, name, "x"),
    () => append(engine, "a", "x", name),
    () => put(engine, name, "x"),
    () => remove(engine, name),
    () => engine.commit((batch) => batch.expect("events", name, "any")),
    () => everything(engine.log("events").read(name)),
    () => engine.log("events").version(name),
    () => engine.map("state").get(name),
  ];
}

export const limitRules: readonly EngineRule[] = [
  claim("a key and an id have at least one byte, and may be anything that is well-formed", async (engine) => {
    for (const name of [" ", "\0", "/", "\n", "__proto__", "\uFFFD", "\u{1F600}"]) {
      await append(engine, name, name, name);
      await put(engine, name, name);
      same("its record", (await everything(engine.log("events").read(name)))[0]?.id, name);
      same("its value", await valueOf(engine, name), name);
    }
    for (const [i, call] of callsWith(engine, "").entries()) {
      await refused("INVALID_ARGUMENT", `an empty name, call ${i}`, call);
    }
  }),

  claim("a key and an id have at most so many bytes of UTF-8, and one more is refused", async (engine) => {
    for (const long of ["x".repeat(MAX_NAME_BYTES), "\u{1F600}".repeat(MAX_NAME_BYTES / 4)]) {
      await append(engine, long, "x", long);
      await put(engine, long, "x");
      same("records", (await keyLines(engine, long)).length, 1);
      same("the value", await valueOf(engine, long), "x");
    }
    for (const longer of ["x".repeat(MAX_NAME_BYTES + 1), `${"é".repeat(MAX_NAME_BYTES / 2)}x`]) {
      for (const [i, call] of callsWith(engine, longer).entries()) {
        await refused("TOO_LARGE", `a longer name, call ${i}`, call);
      }
    }
    same("the revision", engine.revision, 4);
  }),

  claim("a key or an id with a lone surrogate, or that is no text, is refused", async (engine) => {
    const wrong: readonly unknown[] = ["a\uD800", "\uDC00a", "\uDC00\uD800", 1, null, ["a"]];
    for (const name of wrong as readonly string[]) {
      for (const [i, call] of callsWith(engine, name).entries()) {
        await refused("INVALID_ARGUMENT", `name ${JSON.stringify(name)}, call ${i}`, call);
      }
    }
    same("the revision", engine.revision, 0);
  }),

  claim("a payload is a Uint8Array, and nothing else is taken for one", async (engine) => {
    const wrong: readonly unknown[] = ["text", [1, 2], new ArrayBuffer(2), new Uint16Array(2), null, undefined, {}, 7];
    for (const [i, payload] of (wrong as readonly Uint8Array[]).entries()) {
      const appending = () => engine.commit((batch) => batch.append("events", "a", payload));
      await refused("INVALID_ARGUMENT", `append ${i}`, appending);
      await refused("INVALID_ARGUMENT", `put ${i}`, () => engine.commit((batch) => batch.put("state", "a", payload)));
    }
    same("what is stored", [await logLines(engine), await mapLines(engine)], [[], []]);
  }),

  claim(
    "a batch holds up to 16 MiB, less what its operations may add, and not one byte more than 16 MiB",
    async (engine) => {
      const names = "key".length + "id".length + "k".length;
      const half = MAX_WRITE_BYTES / 2;
      const write = (size: number) =>
        engine.commit((batch) => {
          batch.append("events", "key", new Uint8Array(half), "id");
          batch.put("state", "k", new Uint8Array(size - half - names));
        });
      await refused("TOO_LARGE", "a byte too many", () => write(MAX_WRITE_BYTES + 1));
      same("the revision", [engine.revision, engine.log("events").last], [0, 0]);
      await write(MAX_WRITE_BYTES - 2 * OPERATION_BYTES);
      const value = await engine.map("state").get("k");
      const [record] = await everything(engine.log("events").scan());
      const bytes = (record?.payload.length ?? 0) + (value?.payload.length ?? 0) + names;
      same("bytes", bytes, MAX_WRITE_BYTES - 2 * OPERATION_BYTES);
    },
  ),

  claim("a batch holds thousands of operations", async (engine) => {
    const count = 5000;
    const { appended } = await engine.commit((batch) => {
      for (let i = 0; i < count; i++) {
        batch.append("events", `k${i % 7}`, bytes(`${i}`));
        batch.put("state", `k${i % 1000}`, bytes(`${i}`));
      }
    });
    // 4999 is the 715th of those whose remainder by 7 is 1.
    same("the last", appended.at(-1), { sort: count, version: 715 });
    same("the log", (await logLines(engine)).length, count);
    same("the map", [(await mapLines(engine)).length, await valueOf(engine, "k999")], [1000, "4999"]);
  }),
];
