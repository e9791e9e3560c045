import { type ConformanceRule, runConformance } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";

type Rule = ConformanceRule<string, "count" | "order">;

const broken = new Error("the claim doesn't hold");
const holds = (): Promise<void> => Promise.resolve();
const fails = (): Promise<void> => Promise.reject(broken);
const open = (): Promise<string> => Promise.resolve("subject");

function rule(name: string, parts: Partial<Rule>): Rule {
  return { name, needs: [], check: holds, ...parts };
}

describe("runConformance", () => {
  test("gives the outcomes in the rules' order, and goes on after a failure", async () => {
    const rules = [rule("first", {}), rule("second", { check: fails }), rule("third", {})];
    expect(await runConformance(rules, new Set(), open)).toEqual([
      { rule: "first", outcome: "passed" },
      { rule: "second", outcome: "failed", error: broken },
      { rule: "third", outcome: "passed" },
    ]);
  });

  test("runs the check of a driver that supports all needs, and not the opposite", async () => {
    const able = rule("able", { needs: ["count", "order"], refused: fails });
    expect(await runConformance([able], new Set(["count", "order"] as const), open)).toEqual([
      { rule: "able", outcome: "passed" },
    ]);
  });

  test("runs the opposite for a driver that lacks one need, and not the check", async () => {
    const lacking = rule("lacking", { needs: ["count", "order"], check: fails, refused: holds });
    expect(await runConformance([lacking], new Set(["count"] as const), open)).toEqual([
      { rule: "lacking", outcome: "refused as declared" },
    ]);
  });

  test("fails a driver that doesn't refuse what it declares not to support", async () => {
    const careless = rule("careless", { needs: ["count"], refused: fails });
    expect(await runConformance([careless], new Set(), open)).toEqual([
      { rule: "careless", outcome: "failed", error: broken },
    ]);
  });

  test("fails a rule without an opposite, instead of skipping it", async () => {
    const [outcome] = await runConformance([rule("one-sided", { needs: ["count"] })], new Set(), open);
    expect(outcome).toMatchObject({
      outcome: "failed",
      error: { message: 'rule "one-sided" needs count and has no opposite' },
    });
  });

  test("hands the driver's factory to each rule, one after the other", async () => {
    const order: string[] = [];
    const opening = (name: string): Rule =>
      rule(name, {
        check: async (open) => {
          order.push(`${name} opens`);
          order.push(`${name} has ${await open()}`);
        },
      });
    await runConformance([opening("a"), opening("b")], new Set(), open);
    expect(order).toEqual(["a opens", "a has subject", "b opens", "b has subject"]);
  });
});
