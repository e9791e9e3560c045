import { KIB } from "@ehdb/contracts";
import type { SimulatedHost } from "@ehdb/host";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { describe, expect, test } from "vitest";
import { stage } from "./drive.ts";

const small: Partial<EngineOptions> = { sealMaxCommits: 1, sealMaxBytes: 1024 * KIB, background: false };

async function append(engine: DurableEngine, count: number, bytes = 10): Promise<void> {
  for (let i = 0; i < count; i++) await engine.commit((batch) => batch.append("events", "a", Buffer.alloc(bytes)));
}

/** A seal that takes so long. */
async function sealFor(host: SimulatedHost, engine: DurableEngine, millis: number): Promise<void> {
  const { seals } = engine.stats();
  const held = host.hold(["dataSync"], /\.part$/);
  await append(engine, 1);
  await host.advance(millis);
  held.release();
  await host.settle();
  expect(engine.stats().seals).toBe(seals + 1);
}

describe("small generations", () => {
  test("wait after a seal for nineteen times the time that it took, and become one part", async () => {
    const { host, engine } = await stage(small);
    await sealFor(host, engine, 20);
    await append(engine, 5);
    await host.advance(370);
    expect(engine.stats()).toMatchObject({ seals: 1, unsealed_generations: 6 });
    await host.advance(20);
    expect(engine.stats()).toMatchObject({ seals: 2, unsealed_generations: 1, manifest_parts: 2 });
    expect(engine.heads.sealed).toBe(6);
    await engine.close();
  });

  test("wait a second at most", async () => {
    const { host, engine } = await stage(small);
    await sealFor(host, engine, 5000);
    await append(engine, 5);
    await host.advance(990);
    expect(engine.stats().seals).toBe(1);
    await host.advance(10);
    expect(engine.stats().seals).toBe(2);
    await engine.close();
  });

  test("don't wait when somebody waits for them, nor at a close", async () => {
    const { host, engine } = await stage(small);
    await sealFor(host, engine, 1000);
    await append(engine, 5);
    await engine.seal();
    expect(engine.stats()).toMatchObject({ seals: 2, unsealed_generations: 1 });
    await append(engine, 5);
    await engine.close();
    expect(engine.heads.sealed).toBe(11);
  });

  test("don't wait when they are many, or a quarter of a large one", async () => {
    for (const { count, bytes } of [
      { count: 32, bytes: 10 },
      { count: 4, bytes: 70 * KIB },
    ]) {
      const { host, engine } = await stage(small);
      await sealFor(host, engine, 1000);
      await append(engine, count - 1, bytes);
      await host.settle();
      expect(engine.stats().seals).toBe(1);
      await append(engine, 1, bytes);
      await host.settle();
      expect(engine.stats()).toMatchObject({ seals: 2, unsealed_generations: 1 });
      await engine.close();
    }
  });

  test("don't wait after a seal that failed any longer than until it's tried again", async () => {
    const { host, engine } = await stage(small);
    await sealFor(host, engine, 1000);
    await host.advance(1000);
    host.failNext("create", "EIO", /\.part$/);
    const held = host.hold(["create"], /\.part$/);
    await append(engine, 1);
    await host.advance(100);
    held.release();
    await host.settle();
    expect(engine.stats()).toMatchObject({ seals: 1, seal_failed: 1 });
    await host.advance(250);
    expect(engine.stats().seals).toBe(2);
    await engine.close();
  });
});

describe("commits wait", () => {
  test.each([
    { most: 64, bytes: 10, sealMaxCommits: 1, what: "small generations" },
    { most: 3, bytes: 100 * KIB, sealMaxCommits: 65_536, what: "full ones" },
  ])("when $most $what do", async ({ most, bytes, sealMaxCommits }) => {
    const { host, engine } = await stage({ background: false, sealMaxCommits, sealMaxBytes: 64 * KIB });
    const held = host.hold(["create"], /\.part$/);
    await append(engine, most, bytes);
    let isDone = false;
    const last = append(engine, 1, bytes).then(() => {
      isDone = true;
    });
    await host.advance(1000);
    expect([isDone, engine.heads.accepted]).toEqual([false, most]);
    held.release();
    await last;
    await engine.close();
  });
});
