import { engineRuleDatasets, engineRuleDedupeWindow, engineRules, runConformance } from "@ehdb/contracts";
import type { DatasetSpec, LogRecord } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { referenceEngine } from "../src/reference.ts";
import type { ReferenceEngine } from "../src/reference.ts";
import { checkModel } from "./model.ts";

const open = (): ReferenceEngine =>
  referenceEngine({ datasets: engineRuleDatasets, dedupeWindow: engineRuleDedupeWindow });

async function append(engine: ReferenceEngine, text: string): Promise<void> {
  await engine.commit((batch) => batch.append("events", "a", Buffer.from(text), text));
}

async function events(engine: ReferenceEngine): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of engine.log("events").scan()) records.push(...batch);
  return records;
}

const textsOf = async (engine: ReferenceEngine): Promise<string[]> =>
  (await events(engine)).map(({ payload }) => Buffer.from(payload).toString());

describe("the reference engine keeps the rules of engines", () => {
  test.each(engineRules.map((rule) => [rule.name, rule] as const))("%s", async (_, rule) => {
    const [outcome] = await runConformance([rule], new Set<never>(), async () => open());
    if (outcome?.outcome === "failed") throw outcome.error;
    expect(outcome?.outcome).toBe("passed");
  });

  test("and no two rules have one name", () => {
    expect(new Set(engineRules.map(({ name }) => name)).size).toBe(engineRules.length);
  });
});

describe("the model", () => {
  test("finds a reference engine, reopened now and then by replaying its commits, equal to itself", async () => {
    await checkModel({
      open: async () => {
        let engine = open();
        const reopen = async (): Promise<ReferenceEngine> => {
          const next = engine.asOf(engine.revision);
          await engine.close();
          engine = next;
          return next;
        };
        return { engine, reopen };
      },
      dedupeWindow: engineRuleDedupeWindow,
      seed: 20_260_101,
      histories: 40,
      steps: 30,
    });
  });

  test("finds an engine that forgets its last commit when it's reopened", async () => {
    const forgetting = async () => {
      const engine = open();
      return { engine, reopen: async () => engine.asOf(engine.revision - 1) };
    };
    const run = checkModel({
      open: forgetting,
      dedupeWindow: engineRuleDedupeWindow,
      seed: 1,
      histories: 200,
      steps: 30,
    });
    await expect(run).rejects.toThrow("the engine says");
  });
});

describe("as of a revision", () => {
  test("the engine is what it was after that commit, and goes on from there", async () => {
    const engine = open();
    for (const text of ["one", "two", "three"]) await append(engine, text);
    const earlier = engine.asOf(2);
    expect([earlier.revision, await textsOf(earlier)]).toEqual([2, ["one", "two"]]);
    await append(earlier, "other");
    expect(await textsOf(earlier)).toEqual(["one", "two", "other"]);
    expect(await textsOf(engine)).toEqual(["one", "two", "three"]);
    expect((await events(earlier)).at(-1)).toMatchObject({ sort: 3, version: 3, revision: 3, id: "other" });
  });

  test("every state from the first commit on can be had again", async () => {
    const engine = open();
    const states = [await textsOf(engine)];
    for (const text of ["one", "two", "three", "four"]) {
      await append(engine, text);
      states.push(await textsOf(engine));
    }
    for (const [revision, texts] of states.entries()) expect(await textsOf(engine.asOf(revision))).toEqual(texts);
  });

  test("a place read before the crash continues up to what was kept, and is TRUNCATED beyond it, for good", async () => {
    const engine = open();
    for (const text of ["one", "two", "three"]) await append(engine, text);
    const earlier = engine.asOf(2);
    const codeAt = (sort: number, epoch: number): string => {
      try {
        earlier.log("events").assertContinues(sort, epoch);
        return "continues";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect([0, 1, 2, 3].map((sort) => codeAt(sort, engine.epoch))).toEqual([
      "continues",
      "continues",
      "continues",
      "TRUNCATED",
    ]);
    expect(codeAt(3, earlier.epoch)).toBe("OUT_OF_RANGE");
    await append(earlier, "other");
    expect(codeAt(3, engine.epoch)).toBe("TRUNCATED");
    expect(codeAt(3, earlier.epoch)).toBe("continues");
  });
});

describe("the reference engine's options", () => {
  test("time is what `now` says, and stands still while that goes back", async () => {
    const times = [50, 20, 70];
    const engine = referenceEngine({ datasets: engineRuleDatasets, now: () => times.shift() ?? 0 });
    for (const text of ["one", "two", "three"]) await append(engine, text);
    expect((await events(engine)).map(({ time }) => time)).toEqual([50, 50, 70]);
  });

  test("the dedupe window is 65 536 records by default, and 0 knows no id", async () => {
    const wide = referenceEngine({ datasets: engineRuleDatasets });
    const repeat = { isDuplicate: true, revision: 1 };
    const write = (engine: ReferenceEngine) =>
      engine.commit((batch) => batch.append("events", "a", Buffer.from("x"), "id"));
    await write(wide);
    const fill = (count: number) =>
      wide.commit((batch) => {
        for (let i = 0; i < count; i++) batch.append("events", "b", Buffer.from("x"));
      });
    await fill(65_535);
    expect(await write(wide)).toMatchObject(repeat);
    await fill(1);
    expect(await write(wide)).toMatchObject({ isDuplicate: false });

    const none = referenceEngine({ datasets: engineRuleDatasets, dedupeWindow: 0 });
    await write(none);
    expect(await write(none)).toMatchObject({ isDuplicate: false });
  });

  test("wrong datasets, windows and names of options are refused", () => {
    const wrong: readonly unknown[] = [
      [{ name: "", order: "by-key" }],
      [{ name: "x".repeat(65), order: "by-key" }],
      [{ name: "Capital", order: "by-key" }],
      [{ name: "a", order: "by-time" }],
      [
        { name: "a", order: "by-key" },
        { name: "a", order: "by-sort" },
      ],
    ];
    for (const datasets of wrong as readonly DatasetSpec[][]) {
      expect(() => referenceEngine({ datasets })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    }
    const datasets = engineRuleDatasets;
    expect(() => referenceEngine({ datasets, dedupeWindow: -1 })).toThrow("dedupeWindow");
    expect(() => referenceEngine({ datasets, window: 1 } as never)).toThrow('no option "window"');
  });
});
