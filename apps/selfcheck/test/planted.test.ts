import { isEhdbError } from "@ehdb/contracts";
import { openJournal } from "@ehdb/journal";
import { expect, test } from "vitest";
import { exitCodes } from "../src/outcome.ts";
import { journalVerb } from "../src/verbs/journal.ts";
import { recoveryVerb } from "../src/verbs/recovery.ts";
import { dropping, failedSteps, runVerb } from "./in-process.ts";

const DROPPED = 77;

test("a log that delivers everything is equal", async () => {
  for (const verb of [journalVerb, recoveryVerb]) {
    expect(await runVerb(verb)).toMatchObject({ ok: true, outcome: "ok" });
  }
});

test.each(["scan", "tail"] as const)(
  "a %s that drops one event is reported as not equal, exit code 5",
  async (method) => {
    const report = await runVerb(journalVerb, {
      openJournal: async (options) => dropping(await openJournal(options), method, DROPPED),
    });
    expect(report).toMatchObject({ ok: false, outcome: "not equal" });
    expect(exitCodes[report.outcome]).toBe(5);
    expect(failedSteps(report).join()).toContain(`sequence ${DROPPED + 1} comes after ${DROPPED - 1}`);
  },
);

test("a recovery that loses one acknowledged event is reported as not equal", async () => {
  const report = await runVerb(recoveryVerb, {
    openJournal: async (options) => dropping(await openJournal(options), "scan", DROPPED),
  });
  expect(report.outcome).toBe("not equal");
  expect(report.steps.find((step) => !step.ok)).toMatchObject({ value: 1, unit: "lost" });
  expect(failedSteps(report).join()).toContain(`acknowledged at sequence ${DROPPED}, isn't there`);
});

test("a log that opens in spite of damage is reported as not equal", async () => {
  const report = await runVerb(recoveryVerb, {
    openJournal: async (options) => {
      try {
        return await openJournal(options);
      } catch (error) {
        if (!isEhdbError(error, "CORRUPT")) throw error;
        return openJournal({ ...options, dir: `${options.dir}-blank` });
      }
    },
  });
  expect(report.outcome).toBe("not equal");
  const failed = failedSteps(report);
  expect(failed).toHaveLength(2);
  for (const step of failed) expect(step).toContain("is damaged, and was taken for whole");
});
