import { engineRuleDatasets, engineRuleDedupeWindow, engineRules, runConformance } from "@ehdb/contracts";
import type { Batches, Engine, LogDataset, LogReadOptions, LogRecord, WriteBatch } from "@ehdb/contracts";
import { expect, test } from "vitest";
import { referenceEngine } from "../src/reference.ts";

/** What an engine does wrong about erasures; all else is the reference's. */
interface Defect {
  /** Whether a read leaves out a record of a key that was erased below a version. */
  readonly hides?: (record: LogRecord, below: number, reads: number) => boolean;
  readonly version?: () => number;
  readonly first?: () => number;
  /** What is stated instead. */
  readonly append?: (batch: WriteBatch, ...given: Parameters<WriteBatch["append"]>) => void;
  readonly erase?: (batch: WriteBatch, ...given: Parameters<WriteBatch["erase"]>) => void;
}

const below = ({ version }: LogRecord, before: number): boolean => version < before;

const defects: readonly (readonly [string, string, Defect])[] = [
  ["erases one version too many", "an erasure lets go", { hides: ({ version }, before) => version <= before }],
  [
    "shows again what was gone",
    "what is gone doesn't come back",
    { hides: (record, before, reads) => reads % 2 === 0 && below(record, before) },
  ],
  ["forgets the versions of erased keys", "versions and positions go on", { version: () => 0 }],
  ["erases what is still to come", "an erasure reaches only", { hides: below }],
  [
    "forgets ids of erased records",
    "the id of an erased record",
    { append: (batch, dataset, key, payload) => batch.append(dataset, key, payload) },
  ],
  ["stores nothing for an erasure", "to erase what isn't there", { erase: () => undefined }],
  [
    "writes something under the key",
    "to erase what isn't there",
    { erase: (batch, dataset, key) => batch.append(dataset, key, Buffer.from("erased")) },
  ],
  ["erases though the commit is refused", "a commit that is refused erases", { hides: below }],
  [
    "takes any version",
    "an erasure refuses",
    { erase: (batch, dataset, key, version) => void (version >= 1 && batch.erase(dataset, key, Math.ceil(version))) },
  ],
  ["begins behind what was erased", "a log's first position", { first: () => 2 }],
];

function defective({ hides, version, first, append, erase }: Defect): Engine {
  const engine = referenceEngine({ datasets: engineRuleDatasets, dedupeWindow: engineRuleDedupeWindow });
  const erased = new Map<string, number>();
  let reads = 0;
  const without = async function* (records: Batches<LogRecord>): Batches<LogRecord> {
    const read = reads++;
    for await (const batch of records) {
      const left = batch.filter((record) => hides?.(record, erased.get(record.key) ?? 0, read) !== true);
      if (left.length > 0) yield left;
    }
  };
  const wrapped: Pick<Engine, "commit" | "log"> = {
    commit: async (stage, options) =>
      await engine.commit((batch) => {
        stage({
          ...batch,
          append: (...given) => (append === undefined ? batch.append(...given) : append(batch, ...given)),
          erase: (dataset, key, before) => {
            erased.set(key, Math.max(before, erased.get(key) ?? 0));
            if (erase === undefined) batch.erase(dataset, key, before);
            else erase(batch, dataset, key, before);
          },
        });
      }, options),
    log: (name): LogDataset => {
      const log = engine.log(name);
      return {
        name,
        get first() {
          return erased.size > 0 ? (first?.() ?? log.first) : log.first;
        },
        get last() {
          return log.last;
        },
        assertContinues: (...given) => log.assertContinues(...given),
        version: async (key) => (erased.has(key) ? (version?.() ?? (await log.version(key))) : await log.version(key)),
        scan: (options?: LogReadOptions) => without(log.scan(options)),
        read: (key, options?: LogReadOptions) => without(log.read(key, options)),
      };
    },
  };
  return new Proxy<Engine>(engine, {
    get: (_, name: keyof Engine) => {
      const value: unknown = Reflect.get(name in wrapped ? wrapped : engine, name);
      return typeof value === "function" && !(name in wrapped) ? (value.bind(engine) as unknown) : value;
    },
  });
}

test.each(defects)('an engine that %s breaks the rule "%s"', async (_, begins, defect) => {
  const rule = engineRules.filter(({ name }) => name.startsWith(begins));
  expect(rule).toHaveLength(1);
  expect(await runConformance(rule, new Set<never>(), async () => defective({}))).toMatchObject([
    { outcome: "passed" },
  ]);
  expect(await runConformance(rule, new Set<never>(), async () => defective(defect))).toMatchObject([
    { outcome: "failed" },
  ]);
});

test("each rule of erasures is broken by one of them", () => {
  const names = engineRules
    .filter(({ name }) => /eras|what is gone|a log's first position/.test(name))
    .map(({ name }) => name);
  expect(names.filter((name) => !defects.some(([, begins]) => name.startsWith(begins)))).toEqual([]);
});
