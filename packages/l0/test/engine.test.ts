import { engineRuleDedupeWindow, engineRules, runConformance } from "@ehdb/contracts";
import type { Engine } from "@ehdb/contracts";
import type { DurableEngine } from "@ehdb/l0";
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

describe("the durable engine keeps the rules of erasures when each is carried out before the next call", () => {
  /** Answers a commit once all that may go is gone. */
  function scavenging(engine: DurableEngine): Engine {
    return new Proxy<Engine>(engine, {
      get: (_, name: keyof Engine) => {
        const value: unknown = Reflect.get(engine, name, engine);
        if (name !== "commit") return typeof value === "function" ? (value.bind(engine) as unknown) : value;
        return async (...given: Parameters<Engine["commit"]>) => {
          const commit = await engine.commit(...given);
          await engine.scavenge();
          return commit;
        };
      },
    });
  }

  const rules = engineRules.filter(({ name }) => /eras/.test(name));

  test.each(rules.map((rule) => [rule.name, rule] as const))("%s", async (_, rule) => {
    let erased = 0;
    const open = async (): Promise<Engine> => {
      const { engine } = await stage();
      const { close } = engine;
      engine.close = async (...given) => {
        erased += engine.stats().records_erased;
        return await close.apply(engine, given);
      };
      return scavenging(engine);
    };
    const [outcome] = await runConformance([rule], new Set<never>(), open);
    if (outcome?.outcome === "failed") throw outcome.error;
    expect(outcome?.outcome).toBe("passed");
    if (!/refuse|isn't there/.test(rule.name)) expect(erased).toBeGreaterThan(0);
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
