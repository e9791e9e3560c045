import { engineRuleDedupeWindow, engineRules, runConformance } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { checkModel } from "./model.ts";

describe("the durable engine keeps the rules of engines", () => {
  test.each(engineRules.map((rule) => [rule.name, rule] as const))("%s", async (_, rule) => {
    const [outcome] = await runConformance([rule], new Set<never>(), async () => (await stage()).engine);
    if (outcome?.outcome === "failed") throw outcome.error;
    expect(outcome?.outcome).toBe("passed");
  });
});

describe("the durable engine equals the reference", () => {
  test("across reopens, unsealed", async () => {
    await checkModel({
      open: async () => {
        const { host, engine } = await stage();
        let current = engine;
        const reopen = async () => {
          await current.close();
          current = await openOn(host);
          return current;
        };
        return { engine, reopen };
      },
      dedupeWindow: engineRuleDedupeWindow,
      seed: 7,
      histories: 40,
      steps: 25,
    });
  });

  test("across reopens, when every few commits make parts", async () => {
    await checkModel({
      open: async () => {
        const options = { sealMaxCommits: 3 };
        const { host, engine } = await stage(options);
        let current = engine;
        const reopen = async () => {
          await current.seal();
          await current.close();
          current = await openOn(host, options);
          return current;
        };
        return { engine, reopen };
      },
      dedupeWindow: engineRuleDedupeWindow,
      seed: 8,
      histories: 40,
      steps: 25,
    });
  });
});
