import type { Engine, Expectation } from "../engine.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, everything, keyLines, logLines, mapLines, put, remove, valueOf } from "./record.ts";

/** A commit that expects of one key and writes elsewhere. */
async function expecting(engine: Engine, dataset: string, key: string, expectation: Expectation): Promise<void> {
  await engine.commit((batch) => {
    batch.expect(dataset, key, expectation);
    batch.put("other", "touched", bytes("x"));
  });
}

async function holds(engine: Engine, dataset: string, key: string, list: readonly Expectation[]): Promise<void> {
  for (const expectation of list) await expecting(engine, dataset, key, expectation);
}

/** Each fails with CONFLICT, says exactly why, and writes nothing. */
async function fails(
  engine: Engine,
  dataset: string,
  key: string,
  actual: number,
  list: readonly Expectation[],
): Promise<void> {
  for (const expected of list) {
    const before = engine.revision;
    const what = `expecting ${expected} of ${key} in ${dataset}`;
    const error = await refused("CONFLICT", what, () => expecting(engine, dataset, key, expected));
    const ought = { dataset, key, expected, actual };
    same(`${what}: the data`, { ...ought, ...error.data }, ought);
    same(`${what}: the revision`, engine.revision, before);
  }
}

export const expectationRules: readonly EngineRule[] = [
  claim("of a key without records `none`, 0 and `any` hold, and nothing else", async (engine) => {
    await append(engine, "other", "one");
    await holds(engine, "events", "a", ["none", 0, "any"]);
    await fails(engine, "events", "a", 0, ["exists", 1]);
  }),

  claim("of a key with records `exists`, its version and `any` hold, and nothing else", async (engine) => {
    for (const key of ["b", "a", "b", "a"]) await append(engine, key, "x");
    await holds(engine, "events", "a", ["exists", 2, "any"]);
    await fails(engine, "events", "a", 2, ["none", 0, 1, 3, 4]);
  }),

  claim("of a key that was never put `none`, 0 and `any` hold, and nothing else", async (engine) => {
    await put(engine, "other", "one");
    await holds(engine, "state", "a", ["none", 0, "any"]);
    await fails(engine, "state", "a", 0, ["exists", 1]);
  }),

  claim("of a value `exists`, its revision and `any` hold, and nothing else", async (engine) => {
    await put(engine, "a", "one");
    await put(engine, "b", "two");
    const { revision } = await put(engine, "a", "three");
    same("the revision", revision, 3);
    await holds(engine, "state", "a", ["exists", 3, "any"]);
    await fails(engine, "state", "a", 3, ["none", 0, 1, 2, 4]);
  }),

  claim(
    "a deleted key is one that was never put: neither its last revision nor that of the delete holds",
    async (engine) => {
      await put(engine, "a", "one");
      await remove(engine, "a");
      await holds(engine, "state", "a", ["none", 0, "any"]);
      await fails(engine, "state", "a", 0, ["exists", 1, 2]);
      await put(engine, "a", "two");
      await holds(engine, "state", "a", ["exists"]);
    },
  ),

  claim("expectations are checked against what earlier commits left, not against their own batch", async (engine) => {
    await put(engine, "a", "before");
    await remove(engine, "a");
    await engine.commit((batch) => {
      batch.append("events", "a", bytes("one"));
      batch.expect("events", "a", "none");
      batch.append("events", "a", bytes("two"));
      batch.expect("events", "a", 0);
      batch.put("state", "a", bytes("three"));
      batch.expect("state", "a", "none");
    });
    same("the log", await logLines(engine), ["1 a@1 one", "2 a@2 two"]);
    same("the value", await valueOf(engine, "a"), "three");
    await refused("CONFLICT", "what the batch itself would make true", () =>
      engine.commit((batch) => {
        batch.append("events", "b", bytes("x"));
        batch.expect("events", "b", "exists");
      }),
    );
  }),

  claim("a batch with one expectation that doesn't hold writes nothing at all", async (engine) => {
    await append(engine, "a", "one");
    await put(engine, "a", "one");
    const { revision } = engine;
    await refused("CONFLICT", "the commit", () =>
      engine.commit((batch) => {
        batch.expect("events", "a", 1);
        batch.append("events", "a", bytes("two"));
        batch.append("more", "a", bytes("two"));
        batch.put("state", "a", bytes("two"));
        batch.put("state", "b", bytes("two"));
        batch.delete("state", "a");
        batch.expect("state", "a", "none");
      }),
    );
    same("the revision", engine.revision, revision);
    same("the logs", [await logLines(engine), await logLines(engine, {}, "more")], [["1 a@1 one"], []]);
    same("the map", await mapLines(engine), ["a=one"]);
    const next = await append(engine, "a", "next");
    same("the next commit", [next.revision, next.appended], [revision + 1, [{ sort: 2, version: 2 }]]);
  }),

  claim("of several expectations all must hold, and a conflict names the first that doesn't", async (engine) => {
    await append(engine, "a", "one");
    const error = await refused("CONFLICT", "the commit", () =>
      engine.commit((batch) => {
        batch.expect("events", "a", "exists");
        batch.expect("events", "a", 4);
        batch.expect("events", "b", 5);
        batch.append("events", "c", bytes("x"));
      }),
    );
    same("the data", [error.data["key"], error.data["expected"], error.data["actual"]], ["a", 4, 1]);
    await engine.commit((batch) => {
      batch.expect("events", "a", "exists");
      batch.expect("events", "a", 1);
      batch.expect("state", "a", "none");
      batch.append("events", "a", bytes("two"));
    });
  }),

  claim("an expectation counts what earlier calls committed, whether they were waited for or not", async (engine) => {
    const appends = [0, 1, 2, 3].map((version) =>
      engine.commit((batch) => {
        batch.expect("events", "a", version);
        batch.append("events", "a", bytes(`${version}`));
      }),
    );
    await Promise.all(appends);
    same("the key", await keyLines(engine, "a"), ["1 a@1 0", "2 a@2 1", "3 a@3 2", "4 a@4 3"]);
    const claims = [1, 2, 3].map((i) =>
      engine.commit((batch) => {
        batch.expect("state", "lock", "none");
        batch.put("state", "lock", bytes(`${i}`));
      }),
    );
    const outcomes = (await Promise.allSettled(claims)).map(({ status }) => status);
    same("who got the lock", outcomes, ["fulfilled", "rejected", "rejected"]);
    same("the lock", await valueOf(engine, "lock"), "1");
  }),

  claim("what a conflict says is there can be read when it says so", async (engine) => {
    const first = append(engine, "a", "one");
    const error = await refused("CONFLICT", "the second", () => expecting(engine, "events", "a", "none"));
    const version = await engine.log("events").version("a");
    same("the version", [error.data["actual"], version, engine.log("events").last], [1, 1, 1]);
    await first;
    const value = put(engine, "a", "one");
    const conflict = await refused("CONFLICT", "the second", () => expecting(engine, "state", "a", "none"));
    same("the value", (await engine.map("state").get("a"))?.revision, conflict.data["actual"]);
    await value;
  }),

  claim("what is no expectation is refused", async (engine) => {
    for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "some", null, undefined, 2 ** 53]) {
      const what = `expecting ${String(wrong)}`;
      const call = () => expecting(engine, "events", "a", wrong as Expectation);
      await refused("INVALID_ARGUMENT", what, call);
    }
    same("nothing was written", [engine.revision, await everything(engine.map("other").scan())], [0, []]);
  }),
];
