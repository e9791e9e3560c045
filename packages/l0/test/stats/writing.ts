import { MIB } from "@ehdb/contracts";
import type { Case } from "./cases.ts";
import { append, around, bytes, overAnOpen, quiet, sealed } from "./cases.ts";

export const writing: readonly Case[] = [
  {
    what: "a commit",
    run: (engine) =>
      around(engine, () =>
        engine.commit((batch) => {
          batch.append("events", "a", bytes("one"));
          batch.put("state", "a", bytes("two"));
        }),
      ),
    moves: { commits: 1, appends: 2, unsealed_bytes: "more", dedupe_window_records: 1 },
  },
  {
    what: "a batch that is refused as it is stated",
    run: (engine) => around(engine, () => engine.commit(() => undefined).catch(quiet)),
    moves: { ingest_decode_failed: 1 },
    errors: { INVALID_ARGUMENT: 1 },
  },
  {
    what: "a commit that conflicts",
    run: (engine) =>
      around(engine, () =>
        engine
          .commit((batch) => {
            batch.expect("events", "a", "exists");
            batch.append("events", "a", bytes("one"));
          })
          .catch(quiet),
      ),
    moves: { conflicts: 1 },
    errors: { CONFLICT: 1 },
  },
  {
    what: "a repetition",
    run: async (engine) => {
      await append(engine, "a", "once");
      return await around(engine, () => append(engine, "a", "once"));
    },
    moves: { dedupe_hits: 1 },
  },
  {
    what: "a record that leaves the window",
    options: { dedupeWindow: 2 },
    run: async (engine) => {
      for (const key of ["a", "b"]) await append(engine, key);
      return await around(engine, () => append(engine, "c"));
    },
    moves: { dedupe_window_evictions: 1 },
  },
  {
    what: "a commit that the journal refuses",
    options: { reserveBytes: 0 },
    run: async (engine, host) => {
      await append(engine, "a");
      host.faults.noSpaceAfterBytes = 0;
      const large = (): Promise<unknown> =>
        engine.commit((batch) => batch.append("events", "a", Buffer.alloc(2 * MIB))).catch(quiet);
      await large();
      return await around(engine, large);
    },
    moves: { ingest_append_failed: 1 },
    errors: { NO_SPACE: 1 },
  },
  {
    what: "an open that reads the journal back",
    run: async (engine, host) => {
      await append(engine, "a");
      return await overAnOpen(engine, host, {}, () => Promise.resolve());
    },
    moves: { recovered_active_records: 1, manifest_versions_retained: 1 },
  },
  {
    what: "a commit to a key that is only in parts",
    run: async (engine, host) => {
      await sealed(engine, "a");
      return await overAnOpen(engine, host, {}, (next) => append(next, "a"));
    },
    moves: { cold_loads: 1 },
  },
  {
    what: "a generation that waits to be sealed",
    options: { sealMaxCommits: 1 },
    run: (engine, host) => {
      host.hold(["create"], /\.part$/);
      return around(engine, () => append(engine, "a"));
    },
    moves: { unsealed_generations: 1 },
  },
  {
    what: "a journal that grows",
    run: (engine) =>
      around(engine, async () => {
        for (let i = 0; i < 20; i++) await engine.commit((batch) => batch.append("events", "a", Buffer.alloc(1 * MIB)));
        engine.refreshStateGauges();
      }),
    moves: { journal_bytes: "more" },
  },
];
