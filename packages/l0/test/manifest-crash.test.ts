import { describe, expect, it } from "vitest";
import type { Host, SimulatedHost } from "@ehdb/host";
import {
  after,
  begunOn,
  detoured,
  log,
  machine,
  map,
  merge,
  nothing,
  openOn,
  padded,
  plainOf,
  seal,
} from "./manifest/drive.ts";
import type { Detour, Plain } from "./manifest/drive.ts";
import type { Manifest } from "../src/manifest/manifest.ts";
import type { ManifestEdit } from "../src/meta.ts";

const keeps = ["nothing", "everything", "sectors", "prefix"] as const;
type Keep = (typeof keeps)[number];
const full = process.env["EHDB_SWEEP"] === "full";
/** Of each recovery every so manieth operation is crashed, each time another one, when `EHDB_SWEEP=full` doesn't ask for all. */
const nestedStep = full ? 1 : 12;

/** What was asked for and what was promised: the states after each edit, and how many of them were acknowledged. */
interface Ledger {
  readonly states: Plain[];
  acknowledged: number;
  store: string;
}

const newLedger = (): Ledger => ({ states: [nothing], acknowledged: 0, store: "" });

async function asked(ledger: Ledger, manifest: Manifest, edit: ManifestEdit, work: () => Promise<void>): Promise<void> {
  ledger.states.length = ledger.acknowledged + 1;
  ledger.states.push(after(ledger.states[ledger.acknowledged] as Plain, edit));
  await work();
  ledger.acknowledged++;
  ledger.store = manifest.state.store;
}

/** Two opens, 24 edits of several sectors each, merges among them, and a sync that fails: two files fill up, one breaks. */
async function scenario(simulated: SimulatedHost, ledger: Ledger, detour: Detour): Promise<number[]> {
  const ids: number[] = [];
  let number = 0;
  let failures = 1;
  const host = detoured(simulated, {
    ...detour,
    before: (kind) => {
      if (number === 10 && kind === "dataSync" && failures-- > 0) simulated.failNext("dataSync");
    },
  });
  for (const epoch of [1, 2]) {
    const manifest = await openOn(host, { epoch });
    const first: ManifestEdit = { datasets: [log(manifest.state.sealedThrough + 1, epoch), map] };
    await asked(ledger, manifest, first, () => manifest.begin(first));
    for (number = 1; number <= (epoch === 1 ? 20 : 4); number++) {
      const edit = padded(number % 5 === 0 ? merge(manifest) : seal(manifest), 9000);
      await asked(ledger, manifest, edit, async () => {
        await manifest.append(edit).catch(async () => await manifest.append(edit));
      });
      ids.push(manifest.id);
    }
    await manifest.close();
  }
  return ids;
}

/** What an engine does after a crash; and what it found. */
async function recovery(host: Host, ledger: Ledger): Promise<Plain> {
  const manifest = await openOn(host, { epoch: 3 });
  const found = plainOf(manifest.state);
  const violation = violationIn(found, manifest.state.store, ledger);
  if (violation !== undefined) throw new Violation(violation);
  ledger.acknowledged = ledger.states.findIndex((state) => same(state, found));
  const first: ManifestEdit = { datasets: [log(found.sealedThrough + 1, 3), map] };
  await asked(ledger, manifest, first, () => manifest.begin(first));
  const next = seal(manifest);
  await asked(ledger, manifest, next, () => manifest.append(next));
  await manifest.close();
  return found;
}

class Violation extends Error {}

function violationIn(found: Plain, store: string, ledger: Ledger): string | undefined {
  const possible = ledger.states.slice(ledger.acknowledged);
  if (!possible.some((state) => same(state, found))) {
    return `${ledger.acknowledged} edits were acknowledged, and the state is that of ${ledger.states.findIndex((state) => same(state, found))}`;
  }
  return ledger.store === "" || store === ledger.store ? undefined : "the store has another name";
}

const same = (one: Plain, other: Plain): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Runs `work` until the host freezes; throws what is a violation, and forgets other errors when it was frozen. */
async function untilFrozen(host: SimulatedHost, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, host.whenFrozen()]);
}

/** The disk after a crash behind the nth operation. */
async function crashed(nth: number, keep: Keep, detour: Detour): Promise<{ host: SimulatedHost; ledger: Ledger }> {
  const host = machine(nth);
  const ledger = newLedger();
  host.crashAfter(nth);
  await untilFrozen(host, scenario(host, ledger, detour));
  return { host: host.crash(keep), ledger };
}

/** What was wrong after crashes at every operation of the scenario, and of the recoveries behind it when `nested`; else the first that was wrong. */
async function sweep(detour: Detour, nested: boolean): Promise<{ violations: string[]; crashes: number }> {
  const whole = machine(1);
  await scenario(whole, newLedger(), detour);
  const operations = whole.statistics.operations;
  const violations: string[] = [];
  let crashes = 0;
  const checked = async (where: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      crashes++;
      await work();
    } catch (error) {
      violations.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  for (let outer = 1; outer <= operations && (nested || violations.length === 0); outer++) {
    for (const [place, keep] of keeps.entries()) {
      const { host, ledger } = await crashed(outer, keep, detour);
      const before = host.statistics.operations;
      const where = `${outer} ${keep}`;
      await checked(where, async () => {
        await recovery(detoured(host, detour), ledger);
        const next = host.crash();
        await recovery(detoured(next, detour), ledger);
      });
      const inner = host.statistics.operations - before;
      // Where the recovery itself is cut short: another way of crashing each time.
      for (let nth = 1 + ((outer * 5 + place) % nestedStep); nested && nth <= inner; nth += nestedStep) {
        const again = await crashed(outer, keep, detour);
        again.host.crashAfter(nth);
        await checked(`${where}, ${nth} of its recovery`, async () => {
          await untilFrozen(again.host, recovery(detoured(again.host, detour), again.ledger));
          const next = again.host.crash(keeps[(outer + nth) % 4]);
          await recovery(detoured(next, detour), again.ledger);
        });
      }
    }
  }
  return { violations, crashes };
}

describe("a crash at every operation", () => {
  it(
    "leaves the state after some edits, all acknowledged ones among them, also when the recovery crashes",
    async () => {
      const ids = await scenario(machine(1), newLedger(), {});
      expect(new Set(ids.slice(0, 20)).size, "files that the first open writes").toBeGreaterThan(2);
      const { violations, crashes } = await sweep({}, true);
      expect(violations.slice(0, 5)).toEqual([]);
      expect(crashes).toBeGreaterThan(1000);
    },
    full ? 3_600_000 : 300_000,
  );

  const isManifest = (path: string): boolean => path.includes("manifest-");
  const defects: Readonly<Record<string, Detour>> = {
    "a manifest isn't synced before CURRENT names it": { skipsSync: isManifest },
    "CURRENT isn't synced before its rename": { skipsSync: (path) => path.includes("CURRENT") },
    "the directory isn't synced": { skipsDirectorySync: (path) => path === "/store" },
  };
  it.each(Object.entries(defects))("is seen to lose edits when %s", async (_name, detour) => {
    const { violations } = await sweep(detour, false);
    expect(violations.length).toBeGreaterThan(0);
  });
});

describe("a kill", () => {
  it("leaves all that was acknowledged, wherever it comes", async () => {
    const whole = machine(1);
    await scenario(whole, newLedger(), {});
    for (let nth = 1; nth <= whole.statistics.operations; nth++) {
      const host = machine(nth);
      const ledger = newLedger();
      host.crashAfter(nth);
      await untilFrozen(host, scenario(host, ledger, {}));
      const next = host.kill();
      await recovery(next, ledger);
      await recovery(next.crash(), ledger);
    }
  });
});

describe("ids", () => {
  /** The ids of an open behind a crash that took all names of one part's edit, but not the part. */
  async function idsAfterCrash(detour: Detour): Promise<{ taken: number; again: number }> {
    const host = machine(3);
    const manifest = await begunOn(host);
    await host.files.makeDirectory("/store/parts");
    const taken = manifest.takePartId();
    const part = await host.files.open(`/store/parts/${String(taken).padStart(12, "0")}.part`, "create");
    await part.dataSync();
    await host.files.syncDirectory("/store/parts");
    const reopened = await openOn(detoured(host.crash("nothing"), detour));
    return { taken, again: reopened.takePartId() };
  }

  it("of parts exceed those of files that no edit ever added", async () => {
    const { taken, again } = await idsAfterCrash({});
    expect(again).toBeGreaterThan(taken);
    const blind = await idsAfterCrash({ lists: (names, path) => (path.endsWith("parts") ? [] : names) });
    expect(blind.again, "the control").toBe(blind.taken);
  });

  it("of parts that were found aren't given out again when the files are gone", async () => {
    const host = machine(4);
    await (await begunOn(host)).close();
    await host.files.makeDirectory("/store/parts");
    const orphan = await host.files.open("/store/parts/000000000041.part", "create");
    await orphan.dataSync();
    await host.files.syncDirectory("/store/parts");
    const second = await openOn(host);
    await second.begin();
    await host.files.remove("/store/parts/000000000041.part");
    await host.files.syncDirectory("/store/parts");
    const third = await openOn(host.crash("nothing"));
    expect(third.takePartId()).toBe(42);
  });

  it("of manifests exceed those of files that CURRENT never named", async () => {
    const host = machine(5);
    const manifest = await begunOn(host);
    host.crashAt({ operation: "create", path: /CURRENT/ });
    await untilFrozen(host, manifest.begin());
    const next = host.crash("nothing");
    expect(await next.files.list("/store")).toEqual(["CURRENT", "manifest-000000000001", "manifest-000000000002"]);
    const reopened = await openOn(next);
    expect(reopened.id).toBe(1);
    await reopened.begin();
    expect(reopened.id).toBe(3);
  });
});
