import { expect, test } from "vitest";
import { Checks } from "../src/checks.ts";
import { appendLatencyLevel } from "../src/levels.ts";
import { SelfcheckError, worstOutcome } from "../src/outcome.ts";
import { percentile } from "../src/percentile.ts";
import { formatReport } from "../src/table.ts";
import { eventLogVerb } from "../src/verbs/eventlog.ts";
import { runProgram } from "./program.ts";

test("a missed level is a failure with --strict only", () => {
  for (const strict of [false, true]) {
    const checks = new Checks(strict);
    checks.step({ name: "latency", count: 9, value: 11, unit: "ms", level: appendLatencyLevel });
    const report = checks.report("journal", 1, 0.5);
    expect(report.steps[0]).toMatchObject({ met: false, ok: !strict, level: "<= 10 ms" });
    expect(report.outcome).toBe(strict ? "not equal" : "ok");
    expect(formatReport(report, { colours: false, quiet: true })).toContain(strict ? "NOT OK" : "missed");
  }
});

test("a figure that couldn't be measured misses its level", () => {
  const checks = new Checks(false);
  checks.step({ name: "latency", count: 0, value: percentile([], 0.99), level: appendLatencyLevel });
  expect(checks.report("journal", 1, 0).steps[0]?.met).toBe(false);
});

test("the cause decides the exit code, not what follows from it", () => {
  expect(worstOutcome(["ok", "not equal", "rejected", "unavailable"])).toBe("rejected");
  expect(worstOutcome(["disabled", "ok"])).toBe("ok");
  expect(worstOutcome([])).toBe("ok");
});

test("an error keeps its outcome and ends as a row", () => {
  const checks = new Checks(false);
  checks.failed("went through", new SelfcheckError("rejected", "line 3: not JSON"));
  expect(checks.report("journal", 1, 0)).toMatchObject({
    ok: false,
    outcome: "rejected",
    steps: [{ message: "line 3: not JSON" }],
  });
});

test("quiet prints nothing when all is well", () => {
  const checks = new Checks(false);
  checks.step({ name: "fine" });
  expect(formatReport(checks.report("config", 1, 0), { colours: false, quiet: true })).toBe("");
});

test("colours are there only when they are wanted", () => {
  const checks = new Checks(false);
  checks.step({ name: "fine", count: 12_345 });
  const report = checks.report("config", 1, 0);
  expect(formatReport(report, { colours: false, quiet: false })).not.toContain("\u001B");
  expect(formatReport(report, { colours: false, quiet: false })).toContain("12 345");
  expect(formatReport(report, { colours: true, quiet: false })).toContain("\u001B[32mok");
});

test("the nearest rank is a sample, never a mean", () => {
  expect(percentile([4, 1, 3, 2], 0.5)).toBe(2);
  expect(percentile([1, 2, 3, 100], 0.99)).toBe(100);
});

test("--json prints one line a verb with the same fields, and nothing else", async () => {
  const { code, stdout, stderr } = await runProgram(["--json", "--events", "300", "--kills", "1", "--seed", "5"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const reports = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(reports.map(({ verb }) => verb)).toEqual(["config", "journal", "recovery", "l0", "eventlog"]);
  for (const report of reports) {
    const facts = report["verb"] === "eventlog" ? Object.keys(eventLogVerb.facts ?? {}) : [];
    expect(Object.keys(report)).toEqual(["verb", "ok", "outcome", "seed", "seconds", ...facts, "steps"]);
    expect(report).toMatchObject({ ok: true, outcome: "ok", seed: 5 });
    for (const step of report["steps"] as object[]) {
      expect(Object.keys(step)).toEqual(["name", "count", "value", "unit", "level", "met", "ok", "message"]);
    }
  }
});

test("called by its other name a verb has that name, and the facts that programs read", async () => {
  const { code, stdout } = await runProgram([
    "durable-eventlog",
    "eventlog",
    "--json",
    "--events",
    "100",
    "--kills",
    "0",
  ]);
  expect(code).toBe(0);
  const [line = "", ...others] = stdout.trimEnd().split("\n");
  expect(others).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({
    verb: "durable-eventlog",
    ok: true,
    storage_backend: "l0",
    durable_replay_records: 100,
    durable_replay_ok: true,
  });
});
