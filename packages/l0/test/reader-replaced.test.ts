import type { Files, Host, SimulatedHost } from "@ehdb/host";
import { openEngineReader, restoreStore } from "@ehdb/l0";
import type { EngineReader } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { all, Ledger } from "./reader-ledger.ts";

interface Copies {
  readonly host: SimulatedHost;
  /** Of the store that is in place first, and of the one that was made of its backup. */
  readonly original: Ledger;
  readonly restored: Ledger;
  /** Puts the one in the place of the other. */
  swap(): Promise<void>;
}

/** A store and a copy of it that went on differently, with parts and segments of the same numbers; both closed. */
async function copies(): Promise<Copies> {
  const options = { background: false } as const;
  const { host, engine } = await stage(options);
  const original = new Ledger();
  for (let round = 0; round < 3; round++) {
    await original.fill(engine, 20);
    await engine.seal();
  }
  await original.fill(engine, 5);
  await engine.backup("/backup");
  const restored = original.fork();
  for (let round = 0; round < 4; round++) {
    await original.fill(engine, 15);
    await engine.seal();
  }
  await original.fill(engine, 10);
  await engine.close();
  await restoreStore({ from: "/backup", to: "/other", host });
  const other = await openOn(host, { ...options, dir: "/other" });
  for (let round = 0; round < 3; round++) {
    await restored.fill(other, 12, 60);
    await other.seal();
  }
  await restored.fill(other, 7, 60);
  await other.close();
  const swap = async (): Promise<void> => {
    const { files } = host;
    await files.rename("/store", "/aside");
    await files.rename("/other", "/store");
    await files.rename("/aside", "/other");
  };
  return { host, original, restored, swap };
}

const open = (host: Host): Promise<EngineReader> => openEngineReader({ dir: "/store", host });

describe("when a restored backup takes the place of the store that is read", () => {
  test("the next look shows it, and only it", async () => {
    const { host, original, restored, swap } = await copies();
    const reader = await open(host);
    expect(await original.differences(reader)).toEqual([]);
    const { revision, epoch } = reader;
    await swap();
    expect(await reader.refresh()).toBe(restored.revision);
    expect(await restored.differences(reader)).toEqual([]);
    expect(reader.epoch).toBeGreaterThan(epoch);
    // Of what only the original had.
    expect(() => reader.log("events").assertContinues(revision - 1, epoch)).toThrow(
      expect.objectContaining({ code: "TRUNCATED" }),
    );
    await swap();
    await reader.refresh();
    expect(await original.differences(reader)).toEqual([]);
    await reader.close();
  });

  test("a backup that nobody has opened is shown too", async () => {
    const { host, original } = await copies();
    const reader = await open(host);
    expect(await original.differences(reader)).toEqual([]);
    await host.files.rename("/store", "/aside");
    await restoreStore({ from: "/backup", to: "/store", host });
    expect(await reader.refresh()).toBe(65);
    expect(await original.differences(reader)).toEqual([]);
    await reader.close();
  });

  test.each(["forwards", "backwards"] as const)(
    "a read that is under way ends with TRUNCATED, %s",
    async (direction) => {
      const { host, swap } = await copies();
      const reader = await open(host);
      const sorts: number[] = [];
      const reading = (async () => {
        for await (const records of reader.log("events").scan({ direction })) {
          if (sorts.length === 0) await swap();
          sorts.push(...records.map(({ sort }) => sort));
        }
      })();
      await expect(reading).rejects.toMatchObject({ code: "TRUNCATED", data: { dataset: "events" } });
      const first = direction === "forwards" ? 1 : 135;
      expect(sorts).toEqual(
        Array.from({ length: sorts.length }, (_, n) => (direction === "forwards" ? first + n : first - n)),
      );
      await reader.close();
    },
  );

  test("a lookup is asked again, of the copy", async () => {
    const { host, restored, swap } = await copies();
    const reader = await open(host);
    await swap();
    // What was written last is in memory; of the others one is in a part that the copy hasn't got.
    for (let key = 0; key < 11; key++) await reader.map("state").get(`key-${key}`);
    expect(reader.revision).toBe(restored.revision);
    expect(await restored.differences(reader)).toEqual([]);
    await reader.close();
  });

  test("a reader that is opened or looks just then shows the one or the other", async () => {
    const { host, original, restored, swap } = await copies();
    let [isSwapped, isDone, isCompared] = [false, false, false];
    let swaps = 0;
    for (let at = 1; !isDone; at++) {
      const swapping = before(host, at, async () => {
        if (isCompared) return;
        await swap();
        isSwapped = !isSwapped;
        swaps++;
      });
      const reader = await open(swapping);
      for (let look = 0; look < 2; look++) {
        const records = await all(reader.log("events").scan()).catch((error: unknown) => error);
        if (records instanceof Error) expect(records).toMatchObject({ code: "TRUNCATED" });
        else expect([original.revision, restored.revision]).toContain((records as unknown[]).length);
        await reader.map("state").get("key-1");
        await reader.refresh();
      }
      await reader.refresh();
      isCompared = true;
      expect(await (isSwapped ? restored : original).differences(reader)).toEqual([]);
      isCompared = false;
      await reader.close();
      isDone = swaps < at;
    }
    expect(swaps).toBeGreaterThan(25);
  });
});

/** Does something before the operation with this number on a path. */
function before({ files, clock, random, workers }: Host, number: number, act: () => Promise<void>): Host {
  let count = 0;
  const counted = ["open", "list", "stat"] as const satisfies (keyof Files)[];
  const acting: Files = new Proxy(files, {
    get: (of, name: keyof Files) => {
      const call = of[name].bind(of) as (...given: unknown[]) => unknown;
      if (!counted.includes(name as (typeof counted)[number])) return call;
      return async (...given: unknown[]): Promise<unknown> => {
        if (++count === number) await act();
        return await call(...given);
      };
    },
  });
  return { files: acting, clock, random, workers };
}
