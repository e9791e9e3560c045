import { KIB } from "@ehdb/contracts";
import type { ImportedRecord } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { OperationKind, SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, test } from "vitest";

const full = process.env["EHDB_SWEEP"] === "full";

/** Each thing that an import and those beside it do to the disk, once it has begun. */
const kinds = [
  "writeAtSync",
  "write",
  "dataSync",
  "syncDirectory",
  "create",
  "rename",
  "remove",
] as const satisfies OperationKind[];

const given: readonly ImportedRecord[] = Array.from({ length: 24 }, (_, i) => ({
  sort: 2 * i + 1,
  key: `k${i % 3}`,
  version: Math.floor(i / 3) + 1,
  time: 1000 + i,
  id: `id-${i}`,
  payload: Buffer.from(`${i}`),
}));
const whole = given.map(({ sort, key, version }) => `${sort} ${key}@${version}`);

function open(host: SimulatedHost): Promise<DurableEngine> {
  return openEngine({
    dir: "/store",
    datasets: [
      { name: "events", order: "by-sort" },
      { name: "state", order: "by-key" },
    ],
    sealMaxBytes: 64 * KIB,
    sealMaxCommits: 5,
    reserveBytes: 64 * KIB,
    manifestRetain: 1,
    background: false,
    host,
  });
}

interface Promised {
  isImported: boolean;
  /** Appends behind the import, and puts beside it, that were acknowledged. */
  appended: number;
  put: number;
}

async function append(engine: DurableEngine, promised: Promised, number: number): Promise<void> {
  await engine.commit((batch) => batch.append("events", "behind", Buffer.from(`${number}`)));
  promised.appended = Math.max(promised.appended, number);
}

/** An import, puts beside it, appends behind it. */
async function scenario(host: SimulatedHost, promised: Promised): Promise<void> {
  const engine = await open(host);
  await Promise.all([
    (async () => {
      await engine.import("events", [given.slice(0, 10), given.slice(10)]);
      promised.isImported = true;
    })(),
    (async () => {
      for (let number = 1; number <= 8; number++) {
        await engine.commit((batch) => batch.put("state", "a", Buffer.from(`${number}`)));
        promised.put = number;
      }
    })(),
  ]);
  for (let number = 1; number <= 3; number++) await append(engine, promised, number);
  await engine.close();
}

async function linesOf(engine: DurableEngine): Promise<string[]> {
  const found: string[] = [];
  for await (const records of engine.log("events").scan())
    found.push(...records.map(({ sort, key, version }) => `${sort} ${key}@${version}`));
  return found;
}

const behind = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${from + i} behind@${i + 1}`);

/** All of the import or nothing, and what was acknowledged; nothing is left lying about; and the log goes on where it must. */
async function check(host: SimulatedHost, promised: Promised, where: string): Promise<boolean> {
  const engine = await open(host);
  const found = await linesOf(engine);
  const isThere = found.length > 0;
  if (promised.isImported) expect(isThere, where).toBe(true);
  const appended = Math.max(0, found.length - whole.length);
  expect(appended, where).toBeGreaterThanOrEqual(promised.appended);
  expect(found, where).toEqual(isThere ? [...whole, ...behind(48, appended)] : []);
  expect(Number((await engine.map("state").get("a"))?.payload ?? 0), where).toBeGreaterThanOrEqual(promised.put);
  expect((await engine.verify()).damage, where).toEqual([]);
  const named = engine.stats().manifest_parts;
  expect((await host.files.list("/store/parts")).length, where).toBe(named);
  if (!isThere) await engine.import("events", [given]);
  const { appended: next } = await engine.commit((batch) => batch.append("events", "behind", Buffer.from("next")));
  expect(next, where).toEqual([{ sort: 48 + appended, version: appended + 1 }]);
  await engine.merge();
  expect(await linesOf(engine), where).toEqual([...whole, ...behind(48, appended + 1)]);
  await engine.close();
  return isThere;
}

const nothingYet = (): Promised => ({ isImported: false, appended: 0, put: 0 });

describe("a crash at every operation of an import", () => {
  test(
    "shows all of it or nothing of it, and all of it once that was said",
    async () => {
      const counting = simulatedHost({ seed: 1 });
      await (await open(counting)).close();
      const before = { ...counting.operations };
      const calm = simulatedHost({ seed: 1 });
      await scenario(calm, nothingYet());
      let [crashes, halves, wholes] = [0, 0, 0];
      for (const kind of kinds) {
        const most = calm.operations[kind] ?? 0;
        // The open is others' to crash.
        for (let nth = 1 + Math.min(most, (before[kind] ?? 0) >> 1); nth <= most; nth++) {
          for (const when of full ? (["before", "after"] as const) : ([nth % 2 === 0 ? "before" : "after"] as const)) {
            const host = simulatedHost({ seed: nth });
            const promised = nothingYet();
            host.crashAt({ operation: kind, nth, when });
            await Promise.race([scenario(host, promised), host.whenFrozen()]);
            const isThere = await check(host.crash(), promised, `${when} ${kind} ${nth}`);
            crashes++;
            if (!isThere) halves++;
            else if (!promised.isImported) wholes++;
          }
        }
      }
      console.log(`${crashes} crashes: ${halves} left nothing, ${wholes} all of it although nobody was told`);
      expect(halves).toBeGreaterThan(20);
      expect(wholes).toBeGreaterThan(0);
    },
    full ? 3_600_000 : 600_000,
  );
});
