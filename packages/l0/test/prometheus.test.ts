import { prometheusContentType, prometheusText } from "@ehdb/l0";
import { expect, test } from "vitest";
import { stage } from "./drive.ts";

interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: Record<string, number>;
}

/** A strict reading of the format: each family has one HELP, then one TYPE, then its samples, and nothing else stands there. */
function parsed(text: string): Family[] {
  const families: Family[] = [];
  for (const block of text.split(/^(?=# HELP )/m)) {
    const found = /^# HELP (\w+) (\S.*)\n# TYPE (\w+) (counter|gauge|histogram)\n((?:[^#\n]+\n)+)$/.exec(block);
    const [, name, , typed, type, samples] = found ?? [];
    if (name === undefined || typed !== name || samples === undefined) throw new Error(`not a family: ${block}`);
    const lines = samples.trimEnd().split("\n");
    const one = new RegExp(
      `^(${name}(?:_bucket|_sum|_count)?(?:\\{[a-z]+="[^"\\\\\\n]*"\\})?) (-?\\d+(?:\\.\\d+)?(?:e[+-]\\d+)?)$`,
    );
    const values = lines.map((line) => {
      const [, sample, value] = one.exec(line) ?? [];
      if (sample === undefined) throw new Error(`not a sample of ${name}: ${line}`);
      return [sample, Number(value)] as const;
    });
    families.push({ name, type: String(type), samples: Object.fromEntries(values) });
  }
  return families;
}

test("every figure has its help, its type and its value, in the text format 0.0.4", async () => {
  const { engine } = await stage();
  for (const key of ["a", "b"]) await engine.commit((batch) => batch.append("events", key, Buffer.from("one")));
  engine.snapshot();
  await engine
    .map("state")
    .get("")
    .catch(() => undefined);
  const { errors, ...stats } = engine.stats();
  expect(prometheusContentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  const families = new Map(parsed(prometheusText({ errors, ...stats })).map((family) => [family.name, family]));
  for (const [name, value] of Object.entries(stats))
    expect(families.get(`ehdb_l0_${name}`)?.samples).toEqual({ [`ehdb_l0_${name}`]: value });
  expect(families.size).toBe(Object.keys(stats).length + 2);
  expect(families.get("ehdb_l0_commits")).toMatchObject({ type: "counter", samples: { ehdb_l0_commits: 2 } });
  expect(families.get("ehdb_l0_pins")).toMatchObject({ type: "gauge", samples: { ehdb_l0_pins: 1 } });
  const byCode = families.get("ehdb_l0_errors")?.samples;
  expect(byCode).toMatchObject({ 'ehdb_l0_errors{code="INVALID_ARGUMENT"}': 1, 'ehdb_l0_errors{code="CORRUPT"}': 0 });
  expect(Object.keys(byCode ?? {})).toHaveLength(Object.keys(errors).length);
});

test("the histogram of replication is there, and empty", async () => {
  const { engine } = await stage();
  const lag = parsed(prometheusText(engine.stats())).find(({ name }) => name === "ehdb_l0_replicated_lag");
  expect(lag?.type).toBe("histogram");
  const bounds = ["0.1", "0.5", "1", "2.5", "5", "10", "30", "60", "300", "+Inf"];
  const buckets = bounds.map((bound) => `ehdb_l0_replicated_lag_bucket{le="${bound}"}`);
  const names = [...buckets, "ehdb_l0_replicated_lag_sum", "ehdb_l0_replicated_lag_count"];
  expect(lag?.samples).toEqual(Object.fromEntries(names.map((name) => [name, 0])));
});

test("of some figures there are only these: what isn't known isn't said to be 0", () => {
  expect(parsed(prometheusText({ manifest_parts: 3 }))).toEqual([
    { name: "ehdb_l0_manifest_parts", type: "gauge", samples: { ehdb_l0_manifest_parts: 3 } },
  ]);
});

test("a text that isn't of the format is found", () => {
  const good = prometheusText({ manifest_parts: 3 });
  for (const bad of [good.replace("# TYPE", "# TYP"), good.replace(" 3", " three"), good.trimEnd(), `${good}\n`])
    expect(() => parsed(bad)).toThrow(/^not a /);
});
