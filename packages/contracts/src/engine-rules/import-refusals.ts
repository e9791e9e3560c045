import type { Engine, ImportedRecord, ImportOptions } from "../engine.ts";
import type { ErrorCode } from "../errors.ts";
import { MAX_NAME_BYTES, MAX_SEQUENCE, MAX_WRITE_BYTES } from "../limits.ts";
import { claim, errorOf, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { bring, Fed, imported } from "./imports.ts";
import { append, logLines, put } from "./record.ts";

const good = "1 a@1 one";

/** Refused, with nothing left of it: the log can be imported. */
async function leavesNothing(
  engine: Engine,
  code: ErrorCode,
  what: string,
  records: readonly unknown[],
  data: Readonly<Record<string, unknown>> = {},
  options?: ImportOptions,
): Promise<void> {
  const error = await refused(code, what, () =>
    engine.import("events", [records as readonly ImportedRecord[]], options),
  );
  for (const [name, value] of Object.entries(data)) same(`${what}: ${name}`, error.data[name], value);
  const log = engine.log("events");
  same(`${what}: what is left`, [await logLines(engine), log.last, await log.version("a")], [[], 0, 0]);
}

export const importRefusalRules: readonly EngineRule[] = [
  claim("an import in disorder is refused, and the two sort keys are named", async (engine) => {
    const lines = ["1 a@1 x", "5 a@2 x", "4 a@3 x"];
    const records = lines.map((line) => imported(line));
    await leavesNothing(engine, "OUT_OF_ORDER", "disorder", records, { dataset: "events", sort: 4, before: 5 });
    await leavesNothing(engine, "OUT_OF_ORDER", "as an option", records, { sort: 4 }, { disorder: "refuse" });
    same("then in order", (await bring(engine, [good, "5 a@2 x"])).records, 2);
  }),

  claim("a sort key that comes twice is refused, whatever disorder is to be", async (engine) => {
    const twice = [imported(good), imported("2 a@2 x"), imported("2 b@1 y")];
    await leavesNothing(engine, "INVALID_ARGUMENT", "twice", twice, { sort: 2 });
    const counted = { disorder: "count" } as const;
    await leavesNothing(engine, "INVALID_ARGUMENT", "counted", twice, { sort: 2 }, counted);
    await leavesNothing(engine, "INVALID_ARGUMENT", "later", [...twice.slice(0, 2), imported(good)], {}, counted);
  }),

  claim("numbers out of their range are refused", async (engine) => {
    const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_SEQUENCE, 2 ** 53, "1", undefined, null];
    for (const value of wrong) {
      const what = String(value);
      await leavesNothing(engine, "INVALID_ARGUMENT", `sort ${what}`, [imported(good, { sort: value as number })]);
      await leavesNothing(engine, "INVALID_ARGUMENT", `version ${what}`, [
        imported(good, { version: value as number }),
      ]);
      if (value === 0) continue;
      await leavesNothing(engine, "INVALID_ARGUMENT", `time ${what}`, [imported(good, { time: value as number })]);
    }
  }),

  claim("the highest numbers are taken, and then there is no place left", async (engine) => {
    const most = MAX_SEQUENCE - 1;
    await engine.import("events", [[imported(`${most} a@1 last`, { time: 1 })]]);
    same("the end", engine.log("events").last, most);
    await refused("OUT_OF_RANGE", "one more", () => append(engine, "a", "x"));
    await engine.import("more", [[imported(`1 a@${most} last`)]]);
    await refused("OUT_OF_RANGE", "a version more", () =>
      engine.commit((batch) => batch.append("more", "a", imported(good).payload)),
    );
    same("another key", (await put(engine, "a", "x")).isDuplicate, false);
    same("the log", await logLines(engine), [`${most} a@1 last`]);
  }),

  claim("a version that isn't its key's next one, and a time that falls, are refused", async (engine) => {
    const first = [imported("1 a@3 x"), imported("2 b@1 x")];
    for (const version of [1, 3, 5]) {
      const records = [...first, imported(`3 a@${version} x`)];
      const data = { sort: 3, key: "a", version, expected: 4 };
      await leavesNothing(engine, "INVALID_ARGUMENT", `version ${version}`, records, data);
    }
    await leavesNothing(engine, "INVALID_ARGUMENT", "no date", [imported(good, { time: 8.64e15 + 1 })]);
    const falls = [...first, imported("3 a@4 x", { time: 1001 })];
    await leavesNothing(engine, "INVALID_ARGUMENT", "time", falls, { sort: 3 });
    await engine.import("events", [[...first, imported("3 a@4 x", { time: 1002 })]]);
  }),

  claim("an id that comes twice under its key is refused, and under another one not", async (engine) => {
    const id = "id";
    const twice = [imported("1 a@1 x", { id }), imported("5 a@2 y", { id })];
    await leavesNothing(engine, "ID_REUSED", "twice", twice, { dataset: "events", key: "a", id, sort: 5 });
    await engine.import("events", [[imported("1 a@1 x", { id }), imported("5 b@1 x", { id })]]);
  }),

  claim("what is no record, no key, no id, no payload, is refused as by a batch", async (engine) => {
    const wrong: readonly unknown[] = [
      undefined,
      null,
      1,
      "x",
      ...["", "\ud800", 1, undefined].map((key) => ({ ...imported(good), key })),
      ...["", "\ud800", 1, null].map((id) => ({ ...imported(good), id })),
      ...["text", [1], undefined].map((payload) => ({ ...imported(good), payload })),
    ];
    for (const [i, record] of wrong.entries()) await leavesNothing(engine, "INVALID_ARGUMENT", `record ${i}`, [record]);
    const long = "k".repeat(MAX_NAME_BYTES + 1);
    await leavesNothing(engine, "TOO_LARGE", "a key", [imported(good, { key: long })]);
    await leavesNothing(engine, "TOO_LARGE", "an id", [imported(good, { id: long })]);
    const payload = new Uint8Array(MAX_WRITE_BYTES);
    await leavesNothing(engine, "TOO_LARGE", "a payload", [imported(good, { payload })]);
  }),

  claim("what is no source, and no log, is refused", async (engine) => {
    const call = (dataset: unknown, batches: unknown, options?: unknown) => () =>
      engine.import(dataset as string, batches as never[], options as ImportOptions);
    for (const batches of [undefined, 1, {}, "text", [1], ["text"], [undefined]])
      await refused("INVALID_ARGUMENT", `batches ${JSON.stringify(batches)}`, call("events", batches));
    for (const dataset of ["none", "state", undefined])
      await refused("INVALID_ARGUMENT", `dataset ${String(dataset)}`, call(dataset, []));
    await refused("INVALID_OPTION", "an option", call("events", [], { disordr: "count" }));
    await refused("INVALID_OPTION", "a value", call("events", [], { disorder: "ignore" }));
    same("then", (await bring(engine, [good])).records, 1);
  }),

  claim("a log that ever had a record isn't imported into", async (engine) => {
    await append(engine, "a", "x");
    const error = await refused("ALREADY_EXISTS", "one record", () => bring(engine, ["5 a@2 y"]));
    same("where it stands", [error.data["dataset"], error.data["last"]], ["events", 1]);
    await bring(engine, ["5 a@2 y"], {}, "more");
    await refused("ALREADY_EXISTS", "after an import", () => bring(engine, ["6 a@3 y"], {}, "more"));
    same("the log", await logLines(engine), ["1 a@1 x"]);
  }),

  claim("what writes no record leaves a log to be imported", async (engine) => {
    await engine.commit((batch) => batch.erase("events", "a", 5));
    await engine.commit((batch) => {
      batch.expect("events", "a", "none");
      batch.put("state", "a", imported(good).payload);
    });
    await bring(engine, ["1 a@3 one", "2 a@4 two"]);
    same("the log", await logLines(engine), ["1 a@3 one", "2 a@4 two"]);
    same("the next", (await append(engine, "a", "x")).appended, [{ sort: 3, version: 5 }]);
  }),

  claim("a source that throws ends the import with what it throws", async (engine) => {
    const thrown = new Error("no more");
    const source = {
      *[Symbol.iterator]() {
        yield [imported(good)];
        throw thrown;
      },
    };
    same("the very error", (await errorOf(() => engine.import("events", source))) === thrown, true);
    same("what is left", [await logLines(engine), engine.log("events").last], [[], 0]);
    same("then", (await bring(engine, [good])).records, 1);
  }),

  claim("an import that is given up ends at once, however long its source takes", async (engine) => {
    const fed = new Fed();
    const controller = new AbortController();
    const importing = engine.import("events", fed, { signal: controller.signal });
    await fed.askedFor(1);
    fed.give(good);
    await fed.askedFor(2);
    controller.abort();
    await refused("ABORTED", "meanwhile", () => importing);
    const { signal } = controller;
    await refused("ABORTED", "before", () => bring(engine, [good], { signal }));
    await refused("INVALID_ARGUMENT", "no signal", () => bring(engine, [good], { signal: {} as AbortSignal }));
    same("what is left", [await logLines(engine), engine.log("events").last], [[], 0]);
    same("then", (await bring(engine, [good])).records, 1);
  }),

  claim("a close ends an import that is under way", async (engine) => {
    const fed = new Fed();
    const importing = errorOf(() => engine.import("events", fed));
    await fed.askedFor(1);
    fed.give(good);
    await fed.askedFor(2);
    const closing = engine.close();
    await refused("CLOSED", "the import", async () => {
      throw await importing;
    });
    await closing;
    await refused("CLOSED", "another one", () => bring(engine, [good]));
  }),
];
