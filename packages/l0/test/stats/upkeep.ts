import type { Case } from "./cases.ts";
import { append, around, bytes, manual, overAnOpen, put, quiet, sealed } from "./cases.ts";
import { openOn } from "../drive.ts";

export const upkeep: readonly Case[] = [
  {
    what: "a seal",
    run: async (engine) => {
      await append(engine, "a");
      await put(engine, "a");
      return await around(engine, () => engine.seal());
    },
    moves: { seals: 1, sealed_bytes: "more", manifest_parts: 2, parts_bytes: "more", manifest_bytes: "more" },
  },
  {
    what: "a seal that fails",
    run: async (engine, host) => {
      await append(engine, "a");
      host.failNext("write", "EIO", /\.part$/);
      return await around(engine, () => engine.seal().catch(quiet));
    },
    moves: { seal_failed: 1 },
    errors: { IO_ERROR: 1 },
  },
  {
    what: "a reserve that is made",
    options: { sealReserveBytes: 512 * 1024 },
    run: (engine, host) => around(engine, () => host.advance(1000)),
    moves: { reserve_bytes: "more" },
  },
  {
    what: "a seal on a full disk",
    options: { sealReserveBytes: 512 * 1024 },
    run: async (engine, host) => {
      await append(engine, "a");
      await host.advance(1000);
      host.failNext("write", "ENOSPC", /\.part$/);
      return await around(engine, () => engine.seal());
    },
    moves: { seals: 1, reserve_used: 1 },
  },
  {
    what: "merges that are behind",
    run: async (engine, host) => {
      // What the first merge makes.
      host.hold(["dataSync"], /000005\.part$/);
      return await around(engine, async () => {
        for (let part = 0; part < 34; part++) await sealed(engine, "a");
      });
    },
    moves: { merges_behind: 2, seals: 34, manifest_parts: 34, appends: 34 },
  },
  {
    what: "an edit of the manifest that fails",
    run: async (engine, host) => {
      await append(engine, "a");
      host.failNext("dataSync", "EIO", /manifest-/);
      return await around(engine, () => engine.seal().catch(quiet));
    },
    moves: { manifest_errors: 1, seal_failed: 1 },
    errors: { IO_ERROR: 1 },
  },
  {
    what: "a manifest too many",
    options: { manifestRetain: 1 },
    run: async (engine, host) => {
      await engine.close();
      const second = await openOn(host, { manifestRetain: 1 });
      return await overAnOpen(second, host, { manifestRetain: 1 }, () => Promise.resolve());
    },
    moves: { manifest_versions_pruned: 1 },
  },
  {
    what: "a merge",
    options: manual,
    run: async (engine) => {
      await sealed(engine, "a");
      await sealed(engine, "a");
      return await around(engine, () => engine.merge());
    },
    moves: { merges: 1, parts_merged: 2, merged_bytes: "more" },
  },
  {
    what: "a merge that fails",
    options: manual,
    run: async (engine, host) => {
      await sealed(engine, "a");
      await sealed(engine, "a");
      host.failNext("create", "EIO", /\.part$/);
      return await around(engine, () => engine.merge().catch(quiet));
    },
    moves: { merge_failed: 1 },
    errors: { IO_ERROR: 1 },
  },
  {
    what: "a merge of a map whose values were replaced",
    options: manual,
    run: async (engine) => {
      for (const _ of [1, 2, 3]) await put(engine, "a");
      await engine.seal();
      return await around(engine, () => engine.merge());
    },
    moves: { records_superseded: 2 },
  },
  {
    what: "a merge of what was erased",
    options: manual,
    run: async (engine) => {
      await sealed(engine, "a", "a", "b");
      await engine.commit((batch) => batch.erase("events", "a", 3));
      await engine.seal();
      return await around(engine, () => engine.merge());
    },
    moves: { records_erased: 2 },
  },
  {
    what: "a merge of what lies below a floor",
    options: manual,
    run: async (engine) => {
      await sealed(engine, "a", "b");
      await sealed(engine, "c");
      await engine.raiseFloor("events", 3);
      return await around(engine, () => engine.runPendingMerges());
    },
    moves: { records_dropped: 2, parts_dropped: 1 },
  },
  {
    what: "a file that nothing names",
    run: async (engine, host) => {
      await sealed(engine, "a");
      const file = await host.files.open("/store/parts/000000000999.part", "create");
      await file.write(bytes("left behind"), 0);
      await file.close();
      return await around(engine, () => engine.reclaimOrphans());
    },
    moves: { orphans_reclaimed: 1, orphan_bytes: 11 },
  },
  {
    what: "a file that can't be removed",
    run: async (engine, host) => {
      await sealed(engine, "a");
      await (await host.files.open("/store/parts/000000000999.part", "create")).close();
      host.failNext("remove", "EIO", /\.part$/);
      return await around(engine, () => engine.reclaimOrphans());
    },
    moves: { reclaim_failed: 1 },
  },
];
