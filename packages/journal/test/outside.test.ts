// Somebody else is at a journal's directory while it's open.
import { describe, expect, it } from "vitest";
import type { SimulatedHost } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import {
  bytes,
  codeOf,
  fill,
  KIB,
  MIB,
  openAt,
  pour,
  range,
  refusal,
  segmentFiles,
  sequencesOf,
  stage,
} from "./drive.ts";

const options = { segmentBytes: MIB, reserveBytes: 0 };

const deeds: Record<string, (host: SimulatedHost, path: string) => Promise<void>> = {
  "was removed": (host, path) => host.files.remove(path),
  "was replaced": async (host, path) => {
    const { bytes: size = 0 } = (await host.files.stat(path)) ?? {};
    const copy = await host.files.open(`${path}.copy`, "create");
    await copy.preallocate(0, size + MIB);
    await copy.close();
    await host.files.rename(`${path}.copy`, path);
  },
};

const cut = async (host: SimulatedHost, path: string): Promise<void> => {
  const file = await host.files.open(path, "write");
  await file.truncate(4096);
  await file.close();
};

const active = async (host: SimulatedHost): Promise<string> => (await segmentFiles(host))[0] as string;
const lock = async (): Promise<string> => "/j/LOCK";

/** The segment that was made ready, once there is one. */
async function ready(host: SimulatedHost, journal: Journal): Promise<string> {
  while ((await segmentFiles(host)).length === 1) await journal.appendDurable(bytes(20 * KIB));
  await host.settle();
  return (await segmentFiles(host))[1] as string;
}

const cases = [
  ...Object.entries(deeds).flatMap(([what, deed]) => [
    { what, deed, name: "the active segment", path: active },
    { what, deed, name: "LOCK", path: lock },
  ]),
  { what: "was cut", deed: cut, name: "the active segment", path: active },
];

describe.each(cases)("$name $what by somebody else", ({ what, deed, path }) => {
  it("poisons at the next roll, says so, and acknowledges nothing more", async () => {
    const { host, journal } = await stage(options);
    await fill(journal, 3, 10);
    const file = await path(host);
    await deed(host, file);
    const error = await refusal(() => fill(journal, 200, 20 * KIB));
    expect(["OUTCOME_UNKNOWN", "POISONED", "NO_SPACE"]).toContain(error.code);
    expect(journal.state).toBe("poisoned");
    expect(journal.stats().rolls).toBe(0);
    const poison = await refusal(() => journal.append(bytes(1)));
    expect(poison.code).toBe("POISONED");
    expect(poison.message).toContain(`${file} ${what}`);
    expect(await codeOf(() => journal.appendDurable(bytes(1)))).toBe("POISONED");
    expect(await journal.close()).toMatchObject({ state: "partially durable" });
  });

  it("is told by the close, which isn't clean", async () => {
    const { host, journal } = await stage(options);
    await fill(journal, 3, 10);
    await deed(host, await path(host));
    expect(await journal.close()).toMatchObject({ state: "partially durable", reason: { code: "OUTCOME_UNKNOWN" } });
    expect((await journal.close()).reason?.message).toContain(what);
    const again = await stage(options);
    await deed(again.host, await path(again.host));
    expect(await codeOf(() => again.journal[Symbol.asyncDispose]())).toBe("OUTCOME_UNKNOWN");
  });

  it("is noticed a second later by the next append, in every mode", async () => {
    for (const durability of ["sync", "batch", "async"] as const) {
      const { host, journal } = await stage({ ...options, durability });
      await pour(journal, 3, 10);
      await deed(host, await path(host));
      await pour(journal, 3, 10);
      await host.advance(1000);
      const { written } = journal.cursors;
      expect(await codeOf(pour(journal, 1, 10))).toBe("OUTCOME_UNKNOWN");
      expect([journal.state, journal.cursors.written]).toEqual(["poisoned", written]);
      await journal.close();
    }
  });
});

it.each(Object.entries(deeds))("a segment made ready that %s isn't used", async (what, deed) => {
  const { host, journal } = await stage(options);
  const file = await ready(host, journal);
  await deed(host, file);
  await refusal(() => fill(journal, 200, 20 * KIB));
  expect((await refusal(() => journal.append(bytes(1)))).message).toContain(`${file} ${what}`);
  const { durable } = journal.cursors;
  await journal.close();
  const again = await openAt(host, options);
  expect(await sequencesOf(again.scan({ to: durable }))).toEqual(range(1, durable));
  await again.close();
});

it("reopen() goes on over a lost segment that was made ready, and not without the lock", async () => {
  for (const isLock of [false, true]) {
    const { host, journal } = await stage(options);
    const file = await ready(host, journal);
    await host.files.remove(isLock ? "/j/LOCK" : file);
    await refusal(() => fill(journal, 200, 20 * KIB));
    const { durable } = journal.cursors;
    if (isLock) {
      expect(await refusal(() => journal.reopen())).toMatchObject({ code: "IO_ERROR", data: { file: "/j/LOCK" } });
    } else {
      expect((await journal.reopen()).last).toBeGreaterThanOrEqual(durable);
      await fill(journal, 100, 20 * KIB);
      expect(journal.stats().rolls).toBeGreaterThan(0);
      expect(await journal.close()).toMatchObject({ state: "clean" });
    }
    await journal.close();
  }
});

describe("a journal whose directory was moved away, and another took its place", () => {
  const state = async (host: SimulatedHost): Promise<unknown[]> =>
    await Promise.all((await host.files.list("/j")).map(async (name) => [name, await host.files.stat(`/j/${name}`)]));

  it.each<readonly [string, (journal: Journal) => Promise<unknown>]>([
    ["made ready", async (journal) => fill(journal, 60, 20 * KIB)],
    ["dropped", (journal) => journal.dropBefore(journal.cursors.durable + 1)],
    ["rolled", async (journal) => journal.roll()],
    ["thrown away at the close", (journal) => journal.close()],
  ])("has none of the other's segments %s", async (_, call) => {
    const { host, journal } = await stage({ ...options, reserveBytes: 4096 });
    await ready(host, journal);
    await journal.roll();
    await fill(journal, 3, 10);
    await host.settle();
    await host.files.rename("/j", "/old");
    // The same names, and more of them.
    for (let opens = 0; opens < 4; opens++) {
      const other = await openAt(host, options);
      await fill(other, 2, 10);
      await other.close();
    }
    const before = await state(host);
    const { durable } = journal.cursors;
    await call(journal).catch(() => undefined);
    await host.settle();
    await host.advance(1000);
    await journal.appendDurable(bytes(1)).catch(() => undefined);
    expect(["poisoned", "closed"]).toContain(journal.state);
    await journal.close();
    expect(await state(host)).toEqual(before);
    const old = await openAt(host, { ...options, dir: "/old" });
    expect(old.last).toBeGreaterThanOrEqual(durable);
    await old.close();
  });
});

describe("a journal whose LOCK was removed while it's open", () => {
  it("lets nobody else in, whatever it does, before it's closed or dead; then all that it acknowledged is there", async () => {
    for (const end of ["close", "crash"]) {
      const { host, journal } = await stage(options);
      await fill(journal, 3, 10);
      await host.files.remove("/j/LOCK");
      await fill(journal, 3, 10);
      for (let tries = 0; tries < 2; tries++) {
        const refused = await refusal(openAt(host, options));
        expect(refused).toMatchObject({ code: "LOCKED", data: { path: (await segmentFiles(host))[0] } });
      }
      // A writer that has been told writes no more, and still has its segment.
      await host.advance(1000);
      await journal.appendDurable(bytes(10)).catch(() => undefined);
      const { durable } = journal.cursors;
      expect(durable).toBe(6);
      expect(await codeOf(openAt(host, options))).toBe("LOCKED");
      if (end === "close") await journal.close();
      const again = await openAt(end === "crash" ? host.crash() : host, options);
      expect(await sequencesOf(again.scan())).toEqual(range(1, durable));
      await again.close();
    }
  });

  it("lets nobody in after rolls and a reopen, with a segment made ready beside the one that is written", async () => {
    const { host, journal } = await stage(options);
    await ready(host, journal);
    await fill(journal, 60, 20 * KIB);
    expect(journal.stats().rolls).toBeGreaterThan(0);
    host.failNext("dataSync");
    await journal.appendDurable(bytes(1)).catch(() => undefined);
    await journal.reopen();
    await ready(host, journal);
    await host.files.remove("/j/LOCK");
    expect(await codeOf(openAt(host, options))).toBe("LOCKED");
    await journal.close();
    await (await openAt(host, options)).close();
  });

  it("doesn't keep a copy from being opened that has its segments under a second name", async () => {
    const { host, journal } = await stage(options);
    await ready(host, journal);
    await host.files.makeDirectory("/copy");
    for (const name of await host.files.list("/j"))
      if (name !== "LOCK") await host.files.link(`/j/${name}`, `/copy/${name}`);
    const { durable } = journal.cursors;
    const copy = await openAt(host, { ...options, dir: "/copy" });
    await fill(copy, 3, 10);
    await fill(journal, 3, 10);
    for (const one of [copy, journal]) expect(await sequencesOf(one.scan())).toEqual(range(1, durable + 3));
    expect(await copy.close()).toMatchObject({ state: "clean" });
    expect(await journal.close()).toMatchObject({ state: "clean" });
  });
});
