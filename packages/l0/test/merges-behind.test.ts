import { KIB } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { stage } from "./drive.ts";

const few = 32;
const eachMillis = 50;
const behind = 10;

async function append(engine: DurableEngine, bytes: number): Promise<void> {
  await engine.commit((batch) => batch.append("events", "a", Buffer.alloc(bytes)));
}

/** Its first merge goes no further than its sync, until it's let go. */
async function behindBy(
  parts: number,
  options: Partial<EngineOptions> = {},
): Promise<{ readonly engine: DurableEngine; readonly host: SimulatedHost; readonly letGo: () => Promise<void> }> {
  const { engine, host } = await stage({ sealMaxBytes: 64 * KIB, ...options });
  const held = options.background === false ? undefined : host.hold(["dataSync"], /000005\.part$/);
  for (let part = 0; part < few + parts; part++) {
    await append(engine, 10);
    await engine.seal();
  }
  const letGo = async (): Promise<void> => {
    held?.release();
    await host.settle();
  };
  return { engine, host, letGo };
}

describe("merges that can't keep up", () => {
  test("are caught up with: full generations wait so long for each part, and are sealed then", async () => {
    const { engine, host } = await behindBy(behind);
    expect(engine.stats()).toMatchObject({ merges_behind: behind, merges: 0 });
    const { seals } = engine.stats();
    await append(engine, 100 * KIB);
    await host.advance(behind * eachMillis - 60);
    expect(engine.stats().seals).toBe(seals);
    await host.advance(120);
    expect(engine.stats().seals).toBe(seals + 1);
  });

  test("make commits wait, once three generations do, and let all go on when they have caught up", async () => {
    const { engine, host, letGo } = await behindBy(200);
    const { seals } = engine.stats();
    let committed = 0;
    const commits = Array.from({ length: 6 }, () => append(engine, 100 * KIB).then(() => committed++));
    await host.advance(3000);
    expect(engine.stats().seals).toBe(seals);
    expect(committed).toBeLessThan(6);
    await letGo();
    await host.advance(1000);
    await Promise.all(commits);
    expect(engine.stats().merges_behind).toBe(0);
    expect(engine.stats().manifest_parts).toBeLessThan(16);
    expect(engine.stats().parts_merged / engine.stats().merges).toBeLessThanOrEqual(16);
    await engine.close();
  });

  test("let commits go on now and then, however long one of them takes", async () => {
    const { engine, host } = await behindBy(200);
    const { seals } = engine.stats();
    const commits = Array.from({ length: 6 }, () => append(engine, 100 * KIB));
    await host.advance(20_000);
    await Promise.all(commits);
    expect(engine.stats().seals).toBeGreaterThanOrEqual(seals + 3);
  });

  test("are not waited for by a seal that somebody asks for, nor by a close and the commits before it", async () => {
    const { engine, host, letGo } = await behindBy(200);
    await append(engine, 100 * KIB);
    const before = host.clock.monotonic();
    await engine.seal();
    const commits = Array.from({ length: 6 }, () => append(engine, 100 * KIB));
    const closing = engine.close();
    await letGo();
    expect(await closing).toMatchObject({ state: "clean" });
    await Promise.all(commits);
    expect(host.clock.monotonic()).toBe(before);
  });

  test("are not waited for when somebody else drives them", async () => {
    const { engine } = await behindBy(behind, { background: false });
    expect(engine.stats()).toMatchObject({ manifest_parts: few + behind, merges_behind: 0 });
  });

  test("are not waited for while they fail, and are tried again", async () => {
    const { engine, host, letGo } = await behindBy(behind);
    host.failNext("read", "EIO", /000005\.part$/);
    await letGo();
    expect(engine.stats()).toMatchObject({ merge_failed: 1, manifest_parts: few + behind, merges_behind: 0 });
    await host.advance(2000);
    expect(engine.stats()).toMatchObject({ merge_failed: 1, merges_behind: 0 });
    expect(engine.stats().manifest_parts).toBeLessThan(16);
  });
});
