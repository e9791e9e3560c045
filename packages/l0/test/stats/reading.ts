import type { Case } from "./cases.ts";
import { around, damage, manual, overAnOpen, quiet, readAll, sealed } from "./cases.ts";

export const reading: readonly Case[] = [
  {
    what: "reads of parts",
    options: manual,
    run: async (engine, host) => {
      await sealed(engine, "a");
      await sealed(engine, "b");
      return await overAnOpen(engine, host, manual, async (next) => {
        for await (const _ of next.log("events").scan({ from: 2 }));
        await next.log("events").version("b");
        for (const key of ["c", "d", "e"]) await next.log("events").version(key);
      });
    },
    moves: {
      reads: 5,
      parts_pruned: 1,
      parts_bloom_pruned: "more",
      parts_scanned: "more",
      block_cache_misses: "more",
      block_cache_hits: "more",
      block_cache_bytes: "more",
    },
  },
  {
    what: "a read that fails",
    run: async (engine, host) => {
      await sealed(engine, "a");
      return await overAnOpen(engine, host, {}, async (next) => {
        host.failNext("read", "EIO", /\.part$/);
        await readAll(next).catch(quiet);
      });
    },
    moves: { read_errors: 1 },
    errors: { IO_ERROR: 1 },
  },
  {
    what: "damage",
    run: async (engine, host) => {
      await sealed(engine, "a");
      await damage(host);
      return await around(engine, () => engine.verify());
    },
    moves: { scrub_damage: "more" },
  },
  {
    what: "a snapshot that a merge overtakes",
    options: manual,
    run: async (engine, host) => {
      await sealed(engine, "a");
      await sealed(engine, "a");
      return await around(engine, async () => {
        engine.snapshot();
        await host.advance(2000);
        await engine.merge();
      });
    },
    moves: { pins: 1, oldest_pin_seconds: "more", parts_retired: 2 },
  },
  {
    what: "a snapshot that nobody uses",
    options: { ...manual, pinIdleSeconds: 1 },
    run: async (engine, host) => {
      await sealed(engine, "a");
      await sealed(engine, "a");
      return await around(engine, async () => {
        engine.snapshot();
        await engine.merge();
        await host.advance(3000);
      });
    },
    moves: { pins_expired: 1 },
  },
];
