import type { Engine, LogReadOptions, NewRecord } from "../engine.ts";
import { claim, refused, same } from "./claim.ts";
import type { EngineRule } from "./claim.ts";
import { append, bytes, everything, logLines } from "./record.ts";

/** What is no whole number, nothing at all among it. */
const noNumbers = [undefined, null, Number.NaN, 0.5, -1, "1", 1n, {}] as readonly unknown[] as readonly number[];

const appendAll = (engine: Engine, records: unknown, dataset = "events", key = "a") =>
  engine.commit((batch) => {
    batch.append("more", "a", bytes("of another"));
    batch.appendAll(dataset, key, records as readonly NewRecord[]);
  });

export const wrongFormRules: readonly EngineRule[] = [
  claim("a place that isn't given, or is no number, is no place that a log continues from", async (engine) => {
    await append(engine, "a", "one");
    const log = engine.log("events");
    for (const wrong of noNumbers) {
      const what = `${typeof wrong} ${String(wrong)}`;
      await refused("INVALID_ARGUMENT", `as a place: ${what}`, () => log.assertContinues(wrong, engine.epoch));
      await refused("INVALID_ARGUMENT", `as an epoch: ${what}`, () => log.assertContinues(1, wrong));
      await refused("INVALID_ARGUMENT", `as an epoch, from the start: ${what}`, () => log.assertContinues(0, wrong));
    }
  }),

  claim("news of a revision that isn't given, or is no number, is refused", async (engine) => {
    for (const wrong of noNumbers) {
      await refused("INVALID_ARGUMENT", `${typeof wrong} ${String(wrong)}`, () => engine.news(wrong));
    }
  }),

  claim("records that are no array, or in which something is no record, are refused", async (engine) => {
    const payload = bytes("x");
    const good = { payload };
    const wrong: readonly unknown[] = [
      undefined,
      null,
      1,
      "ab",
      good,
      new Set([good]),
      { length: 1, 0: good },
      ...[undefined, null, 1, "ab", payload, {}, { payload: "x" }].map((record) => [good, record]),
    ];
    for (const [i, records] of wrong.entries()) {
      await refused("INVALID_ARGUMENT", `records ${i}`, () => appendAll(engine, records));
    }
    await refused("INVALID_ARGUMENT", "none of no dataset", () => appendAll(engine, [], "nothing"));
    await refused("INVALID_ARGUMENT", "none of a map", () => appendAll(engine, [], "state"));
    await refused("INVALID_ARGUMENT", "none under no key", () => appendAll(engine, [], "events", ""));
    same("what is stored", [engine.revision, engine.log("events").last, engine.log("more").last], [0, 0, 0]);

    await engine.commit((batch) => {
      try {
        batch.appendAll("events", "a", [good, undefined] as unknown as readonly NewRecord[]);
      } catch {
        // None of them is in the batch then.
      }
      batch.appendAll("events", "a", []);
      batch.append("events", "a", bytes("alone"));
    });
    same("what is stored then", await logLines(engine), ["1 a@1 alone"]);
  }),

  claim("options that are no object are INVALID_OPTION, a signal that is none INVALID_ARGUMENT", async (engine) => {
    const [log, map] = [engine.log("events"), engine.map("state")];
    const calls = (options: object): Readonly<Record<string, () => unknown>> => ({
      commit: () => engine.commit((batch) => batch.put("state", "a", bytes("x")), options),
      "a scan": () => everything(log.scan(options)),
      "a read": () => everything(log.read("a", options)),
      "a scan of a map": () => everything(map.scan(options)),
    });
    for (const options of [null, 1, "from", []] as readonly unknown[] as readonly object[]) {
      const what = JSON.stringify(options);
      for (const [name, call] of Object.entries(calls(options))) {
        await refused("INVALID_OPTION", `${name}, ${what}`, call);
      }
    }
    for (const signal of [null, 1, {}, new AbortController()] as readonly unknown[]) {
      const options = { signal } as LogReadOptions;
      for (const [name, call] of Object.entries(calls(options))) await refused("INVALID_ARGUMENT", name, call);
    }
    same("the revision", engine.revision, 0);
  }),

  claim("a name of a dataset that is no text is refused as one that there isn't", async (engine) => {
    const names = [undefined, null, 1, 1n, Symbol("events"), {}] as readonly unknown[] as readonly string[];
    for (const [i, name] of names.entries()) {
      await refused("INVALID_ARGUMENT", `log ${i}`, () => engine.log(name));
      await refused("INVALID_ARGUMENT", `map ${i}`, () => engine.map(name));
      await refused("INVALID_ARGUMENT", `append ${i}`, () =>
        engine.commit((batch) => batch.append(name, "a", bytes("x"))),
      );
    }
  }),
];
