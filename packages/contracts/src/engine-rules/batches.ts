import type { Commit, Engine, WriteBatch } from "../engine.ts";
import { isEhdbError } from "../errors.ts";
import { claim, errorOf, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, everything, logLines, mapLines, put, valueOf } from "./record.ts";

/** Of a later language than the one this is compiled for. */
type ResizableMemory = new (
  bytes: number,
  options: { maxByteLength: number },
) => ArrayBuffer & { resize(bytes: number): void };

async function isEmpty(engine: Engine): Promise<void> {
  const logs = [await logLines(engine), await logLines(engine, {}, "more")];
  const maps = [await mapLines(engine), await mapLines(engine, {}, "other")];
  same("what is stored", [engine.revision, ...logs, ...maps], [0, [], [], [], []]);
}

export const batchRules: readonly EngineRule[] = [
  claim("all that one commit writes, over all datasets, has its one revision and time", async (engine) => {
    await append(engine, "a", "before");
    const { revision, time } = await engine.commit((batch) => {
      batch.append("events", "a", bytes("1"));
      batch.append("more", "a", bytes("2"));
      batch.put("state", "a", bytes("3"));
      batch.put("other", "a", bytes("4"));
      batch.append("events", "a", bytes("5"));
    });
    const records = [
      ...(await everything(engine.log("events").scan({ from: 2 }))),
      ...(await everything(engine.log("more").scan())),
      ...(await everything(engine.map("state").scan())),
      ...(await everything(engine.map("other").scan())),
    ];
    same("records", records.length, 5);
    for (const record of records) same(`of ${record.key}`, [record.revision, record.time], [revision, time]);
  }),

  claim("revisions are dense, and refused commits use none up", async (engine) => {
    same("at first", engine.revision, 0);
    same("the first", (await append(engine, "a", "one", "id")).revision, 1);
    await refused("CONFLICT", "a conflict", () =>
      engine.commit((batch) => {
        batch.expect("events", "a", "none");
        batch.append("events", "a", bytes("x"));
      }),
    );
    await refused("ID_REUSED", "an id given again", () => append(engine, "a", "two", "id"));
    await append(engine, "a", "one", "id");
    await refused("INVALID_ARGUMENT", "an empty batch", () => engine.commit(() => undefined));
    same("the second", (await put(engine, "a", "two")).revision, 2);
    same("then", engine.revision, 2);
  }),

  claim("commits take effect in the order of their calls, waited for or not", async (engine) => {
    const calls: Promise<Commit>[] = [];
    for (let i = 0; i < 20; i++)
      calls.push(i % 3 === 0 ? put(engine, "a", `${i}`) : append(engine, `k${i % 4}`, `${i}`));
    const commits = await Promise.all(calls);
    same(
      "revisions",
      commits.map(({ revision }) => revision),
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    const order = (await logLines(engine)).map((line) => Number(line.split(" ")[2]));
    same(
      "the log",
      order,
      order.toSorted((a, b) => a - b),
    );
    same("the value", await valueOf(engine, "a"), "18");
  }),

  claim("a commit's time never falls below that of the commit before", async (engine) => {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) times.push((await append(engine, "a", `${i}`)).time);
    same(
      "times",
      times,
      times.toSorted((a, b) => a - b),
    );
    same(
      "all are numbers",
      times.every((time) => Number.isFinite(time) && time >= 0),
      true,
    );
  }),

  claim("what a resolved commit wrote can be read at once", async (engine) => {
    const { revision } = await engine.commit((batch) => {
      batch.append("events", "a", bytes("one"));
      batch.put("state", "a", bytes("two"));
    });
    same("the revision", engine.revision, revision);
    const log = engine.log("events");
    same("the log", [log.last, await log.version("a"), await valueOf(engine, "a")], [1, 1, "two"]);
  }),

  claim("`stage` is called once, before `commit` returns", async (engine) => {
    let calls = 0;
    const committed = engine.commit((batch) => {
      calls++;
      batch.append("events", "a", bytes("one"));
    });
    same("calls before", calls, 1);
    await committed;
    same("calls after", calls, 1);
  }),

  claim("what `stage` throws comes through as it is, and nothing is written", async (engine) => {
    const mine = new Error("of the caller");
    const error = await errorOf(() =>
      engine.commit((batch) => {
        batch.append("events", "a", bytes("one"));
        batch.put("state", "a", bytes("one"));
        throw mine;
      }),
    );
    same("the error is the one thrown", error === mine, true);
    await isEmpty(engine);
  }),

  claim("a commit that is refused rejects, and doesn't throw", async (engine) => {
    const promise = engine.commit(() => undefined);
    await refused("INVALID_ARGUMENT", "an empty batch", () => promise);
    const thrown = engine.commit(() => {
      throw new Error("of the caller");
    });
    same("a stage that throws", (await errorOf(() => thrown)) instanceof Error, true);
  }),

  claim(
    "a `stage` that returns a promise is refused, however the promise ends, and nothing is written",
    async (engine) => {
      const stage: (batch: WriteBatch) => unknown = async (batch) => {
        batch.append("events", "a", bytes("one"));
        await Promise.resolve();
        batch.append("events", "a", bytes("two"));
      };
      await refused("INVALID_ARGUMENT", "the commit", () => engine.commit(stage));
      await isEmpty(engine);
    },
  ),

  claim("a batch that writes nothing is refused, also when it expects something", async (engine) => {
    await refused("INVALID_ARGUMENT", "an empty batch", () => engine.commit(() => undefined));
    const expecting = () => engine.commit((batch) => batch.expect("events", "a", "exists"));
    await refused("INVALID_ARGUMENT", "a batch that only expects", expecting);
    await isEmpty(engine);
  }),

  claim("a batch can't be used after its stage has returned or thrown", async (engine) => {
    const kept: WriteBatch[] = [];
    const committed = engine.commit((batch) => {
      kept.push(batch);
      batch.append("events", "a", bytes("one"));
    });
    const thrown = errorOf(() =>
      engine.commit((batch) => {
        kept.push(batch);
        throw new Error("of the caller");
      }),
    );
    for (const batch of kept) {
      await refused("INVALID_ARGUMENT", "append", () => batch.append("events", "a", bytes("late")));
      await refused("INVALID_ARGUMENT", "put", () => batch.put("state", "a", bytes("late")));
      await refused("INVALID_ARGUMENT", "delete", () => batch.delete("state", "a"));
      await refused("INVALID_ARGUMENT", "expect", () => batch.expect("events", "a", "any"));
    }
    await Promise.all([committed, thrown]);
    same("the log", [await logLines(engine), await mapLines(engine)], [["1 a@1 one"], []]);
  }),

  claim("a statement that is refused isn't in the batch, whatever else is", async (engine) => {
    await engine.commit((batch) => {
      batch.append("events", "a", bytes("one"));
      for (const wrong of [() => batch.append("events", "", bytes("x")), () => batch.put("nowhere", "a", bytes("x"))]) {
        try {
          wrong();
        } catch (error) {
          if (!isEhdbError(error, "INVALID_ARGUMENT")) throw error;
        }
      }
      batch.append("events", "a", bytes("two"));
    });
    same("the log", await logLines(engine), ["1 a@1 one", "2 a@2 two"]);
  }),

  claim("payloads are what they were when they were stated, though their memory is used again", async (engine) => {
    const scratch = bytes("one");
    await engine.commit((batch) => {
      batch.append("events", "a", scratch);
      scratch.set(bytes("two"));
      batch.append("events", "a", scratch, "id");
      scratch.set(bytes("red"));
      batch.put("state", "a", scratch);
      scratch.set(bytes("new"));
      batch.appendAll("events", "b", [{ payload: scratch }]);
      scratch.fill(0);
    });
    same("the log", await logLines(engine), ["1 a@1 one", "2 a@2 two", "3 b@1 new"]);
    same("the value", await valueOf(engine, "a"), "red");
    same("a repeat", (await append(engine, "a", "two", "id")).isDuplicate, true);
  }),

  claim("of several appended at once all are in the batch, or when one is refused, none", async (engine) => {
    const commit = await engine.commit((batch) => {
      batch.append("events", "a", bytes("one"), "known");
      for (const wrong of [
        { payload: bytes("x"), id: "" },
        { payload: bytes("x"), id: "known" },
      ]) {
        const records = [{ payload: bytes("x"), id: "free" }, { payload: bytes("y") }, wrong];
        try {
          batch.appendAll("events", "a", records);
          throw new Error("what holds a wrong record was taken");
        } catch (error) {
          if (!isEhdbError(error, "INVALID_ARGUMENT")) throw error;
        }
      }
      batch.appendAll("events", "a", []);
      batch.appendAll("events", "a", [{ payload: bytes("two"), id: "free" }, { payload: bytes("three") }]);
    });
    same("the log", await logLines(engine), ["1 a@1 one", "2 a@2 two", "3 a@3 three"]);
    same("what they got", commit.appended.at(-1), { sort: 3, version: 3 });
  }),

  claim("a dataset that there isn't, or of the other order, is refused everywhere", async (engine) => {
    const wrong: readonly ((batch: WriteBatch) => void)[] = [
      (batch) => batch.append("nowhere", "a", bytes("x")),
      (batch) => batch.append("state", "a", bytes("x")),
      (batch) => batch.put("nowhere", "a", bytes("x")),
      (batch) => batch.put("events", "a", bytes("x")),
      (batch) => batch.delete("nowhere", "a"),
      (batch) => batch.delete("events", "a"),
      (batch) => batch.expect("nowhere", "a", "any"),
    ];
    for (const [i, stage] of wrong.entries()) {
      await refused("INVALID_ARGUMENT", `statement ${i}`, () => engine.commit(stage));
    }
    for (const name of ["nowhere", "state"]) await refused("INVALID_ARGUMENT", `log ${name}`, () => engine.log(name));
    for (const name of ["nowhere", "events"]) await refused("INVALID_ARGUMENT", `map ${name}`, () => engine.map(name));
    await isEmpty(engine);
  }),

  claim("what can't be a stage, a payload, a name or an expectation is refused as that", async (engine) => {
    const unspeakable = Object.create(null) as never;
    const given = bytes("gone");
    structuredClone(given.buffer, { transfer: [given.buffer as ArrayBuffer] });
    const wrong: readonly ((batch: WriteBatch) => void)[] = [
      undefined as never,
      (batch) => batch.append("events", "a", given),
      (batch) => batch.append("events", "a", new Proxy(bytes("x"), {})),
      (batch) => batch.append("events", "a", new Float64Array(1) as never),
      (batch) => batch.append("events", unspeakable, bytes("x")),
      (batch) => batch.append("events", "a", bytes("x"), unspeakable),
      (batch) => batch.put(unspeakable, "a", bytes("x")),
      (batch) => batch.expect("events", "a", unspeakable),
    ];
    for (const [i, stage] of wrong.entries()) {
      await refused("INVALID_ARGUMENT", `statement ${i}`, () => engine.commit(stage));
    }
    await refused("INVALID_ARGUMENT", "a log", () => engine.log(unspeakable));
    await isEmpty(engine);
  }),

  claim("a payload whose memory changes its size within the stage is what it was", async (engine) => {
    const memory = new (ArrayBuffer as unknown as ResizableMemory)(8, { maxByteLength: 64 });
    const payload = new Uint8Array(memory).fill(65);
    await engine.commit((batch) => {
      batch.append("events", "a", payload);
      memory.resize(64);
      batch.append("events", "a", bytes("two"));
    });
    same("the log", await logLines(engine), ["1 a@1 AAAAAAAA", "2 a@2 two"]);
  }),

  claim("commit refuses options that there aren't", async (engine) => {
    const options = { mode: "fast" } as object;
    const call = () => engine.commit((batch) => batch.put("state", "a", bytes("x")), options);
    await refused("INVALID_OPTION", "an unknown option", call);
    await isEmpty(engine);
  }),
];
