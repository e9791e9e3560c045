import { MIB } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Case } from "./cases.ts";
import { append, around, bytes, damage, failing, manual, overAnOpen, put, readAll, sealed } from "./cases.ts";

/** How often callers are told no, and why. */
export const errors: readonly Case[] = [
  {
    what: "syncs that fail under commits, and commits after them",
    run: async (engine, host) => {
      await append(engine, "a");
      return await around(engine, async () => {
        const held = host.hold(["dataSync"], /journal/);
        const answers = Promise.allSettled([append(engine, "a"), append(engine, "b"), append(engine, "c")]);
        await host.settle();
        host.failNext("dataSync", "EIO", /journal/);
        held.release();
        await answers;
        await failing(() => append(engine, "d"));
        await failing(() => engine.seal());
      });
    },
    moves: { not_open: 1, journal_errors: 1 },
    errors: { OUTCOME_UNKNOWN: 3, POISONED: 2 },
  },
  {
    what: "a flush whose sync fails",
    options: { durability: "async" },
    run: async (engine, host) => {
      await append(engine, "a");
      return await around(engine, async () => {
        host.failNext("dataSync", "EIO", /journal/);
        await failing(() => engine.flush());
      });
    },
    moves: { not_open: 1, journal_errors: 1 },
    errors: { OUTCOME_UNKNOWN: 1 },
  },
  {
    what: "commits and reads that are given up",
    run: async (engine) => {
      await append(engine, "a");
      const signal = AbortSignal.abort();
      return await around(engine, async () => {
        await failing(() => engine.commit((batch) => batch.append("events", "a", bytes("one")), { signal }));
        await failing(async () => {
          for await (const _ of engine.log("events").scan({ signal }));
        });
      });
    },
    moves: {},
    errors: { ABORTED: 2 },
  },
  {
    what: "a commit that is given up while it waits",
    run: async (engine, host) => {
      await sealed(engine, "a");
      return await overAnOpen(engine, host, {}, async (next) => {
        const held = host.hold(["read"], /\.part$/);
        const giving = new AbortController();
        const answer = next.commit((batch) => batch.append("events", "a", bytes("one")), { signal: giving.signal });
        giving.abort();
        await failing(() => answer);
        held.release();
      });
    },
    moves: { reads: 0 },
    errors: { ABORTED: 1 },
  },
  {
    what: "an id that is used for something else",
    run: async (engine) => {
      await append(engine, "a", "once");
      return await around(engine, () =>
        failing(() => engine.commit((batch) => batch.append("events", "a", bytes("other"), "once"))),
      );
    },
    moves: { dedupe_hits: 0 },
    errors: { ID_REUSED: 1 },
  },
  {
    what: "a batch that is too large",
    run: (engine) =>
      around(engine, () => failing(() => engine.commit((batch) => batch.put("state", "a", Buffer.alloc(17 * MIB))))),
    moves: { ingest_decode_failed: 1 },
    errors: { TOO_LARGE: 1 },
  },
  {
    what: "an error of the caller's own",
    run: (engine) =>
      around(engine, () =>
        failing(() =>
          engine.commit(() => {
            throw new Error("of the caller's own");
          }),
        ),
      ),
    moves: { ingest_decode_failed: 0 },
  },
  {
    what: "calls that are wrong",
    run: async (engine) => {
      await put(engine, "a");
      return await around(engine, async () => {
        await failing(() => engine.log("none"));
        await failing(() => engine.map("events"));
        await failing(() => engine.log("events").version(""));
        await failing(() => engine.log("events").scan({ limit: -1 }));
        await failing(() => engine.log("events").read(""));
        await failing(() => engine.map("state").get(""));
        await failing(() => engine.map("state").scan({ limit: -1 }));
        await failing(() => engine.log("events").assertContinues(-1, 1));
        await failing(() => engine.news(-1));
        await failing(() => engine.snapshot().map("none"));
      });
    },
    moves: { reads: 0 },
    errors: { INVALID_ARGUMENT: 10 },
  },
  {
    what: "an option that is wrong",
    run: (engine) =>
      around(engine, () => failing(() => engine.merge({ dateset: "events" } as { readonly dataset?: string }))),
    moves: {},
    errors: { INVALID_OPTION: 1 },
  },
  {
    what: "places that aren't in the log",
    run: async (engine) => {
      await append(engine, "a");
      return await around(engine, async () => {
        const log = engine.log("events");
        await failing(() => log.assertContinues(2, engine.epoch));
        await failing(() => engine.raiseFloor("events", 3));
        await failing(() => log.assertContinues(1, engine.epoch + 1));
      });
    },
    moves: {},
    errors: { OUT_OF_RANGE: 2, TRUNCATED: 1 },
  },
  {
    what: "reads below a floor, one way round a nested call",
    options: manual,
    run: async (engine) => {
      await sealed(engine, "a", "b", "c");
      await engine.raiseFloor("events", 3);
      return await around(engine, async () => {
        await failing(() => readAll(engine, 1));
        // It asks another call of the engine, whose error it passes on: that is one.
        await failing(() => engine.retain("none", { maxRecords: 1 }));
      });
    },
    moves: {},
    errors: { COMPACTED: 1, INVALID_ARGUMENT: 1 },
  },
  {
    what: "a snapshot that was let go, and one that was released",
    options: { ...manual, pinIdleSeconds: 1 },
    run: async (engine, host) => {
      await sealed(engine, "a");
      await sealed(engine, "a");
      return await around(engine, async () => {
        const [old, released] = [engine.snapshot(), engine.snapshot()];
        released.release();
        await engine.merge();
        await host.advance(3000);
        await failing(() => readAll(old));
        await failing(() => old.log("events").version("a"));
        await failing(() => readAll(released));
      });
    },
    moves: { pins_expired: 1 },
    errors: { COMPACTED: 2, CLOSED: 1 },
  },
  {
    what: "damage that reads and commits meet",
    run: async (engine, host) => {
      await sealed(engine, "a");
      await put(engine, "a");
      return await overAnOpen(engine, host, {}, async (next) => {
        await damage(host);
        await failing(() => readAll(next));
      });
    },
    moves: { read_errors: 1 },
    errors: { CORRUPT: 1 },
  },
  {
    what: "a question that meets a failing disk, and a commit that does",
    run: async (engine, host) => {
      await sealed(engine, "a");
      return await overAnOpen(engine, host, {}, async (next) => {
        host.failNext("read", "EIO", /\.part$/);
        await failing(() => next.log("events").version("a"));
        host.failNext("read", "EIO", /\.part$/);
        await failing(() => append(next, "a"));
      });
    },
    moves: { read_errors: 1 },
    errors: { IO_ERROR: 2 },
  },
  {
    what: "a backup onto what is there",
    run: async (engine, host) => {
      await host.files.makeDirectory("/copy");
      await (await host.files.open("/copy/file", "create")).close();
      return await around(engine, () => failing(() => engine.backup("/copy")));
    },
    moves: {},
    errors: { ALREADY_EXISTS: 1 },
  },
  {
    what: "a store that was opened on a full disk",
    options: { reserveBytes: 0 },
    run: async (engine, host) => {
      await append(engine, "a");
      await engine.close();
      const before = { ...engine.stats(), not_open: 0 };
      host.faults.noSpaceAfterBytes = 0;
      return await overAnOpen(engine, host, { reserveBytes: 0 }, (next) => failing(() => append(next, "a"))).then(
        ([, after]) => [before, after] as const,
      );
    },
    moves: { not_open: 1 },
    errors: { READ_ONLY: 1 },
  },
  {
    what: "an engine that is closed",
    run: (engine) =>
      around(engine, async () => {
        const log = engine.log("events");
        await engine.close();
        await failing(() => append(engine, "a"));
        await failing(() => engine.flush());
        await failing(() => log.version("a"));
        for (const read of [log.scan(), log.read("a")])
          await failing(async () => {
            for await (const _ of read);
          });
      }),
    moves: { not_open: 1 },
    errors: { CLOSED: 5 },
  },
];

/** Codes without a case here, and why. */
export const withoutCase: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: "an open's, of a reader",
  WRONG_KEY: "an open's",
  UNSUPPORTED_VERSION: "an open's",
  SEQUENCE_LOST: "an open's",
  LEASE_LOST: "a feed's",
  KEY_MISSING: "an open's; a part or segment whose key is gone would give it as well",
  UNSUPPORTED: "of drivers that can less",
  FLUSH_TIMEOUT: "the engine asks for no limit",
  READY_TIMEOUT: "the engine asks for no limit",
  QUEUE_FULL: "the engine waits instead, unless a million wait already",
  WORKER_FAILED: "the simulated machine always has threads: worker-failures.test.ts",
  UNEXPECTED: "a defect's",
};
