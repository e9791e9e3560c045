import { openEngineReader } from "@ehdb/l0";
import type { DurableEngine, EngineReader } from "@ehdb/l0";
import type { Files, Host, SimulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";
import { stage } from "./drive.ts";

interface Beside {
  readonly host: SimulatedHost;
  readonly engine: DurableEngine;
  readonly reader: EngineReader;
}

/** A reader that doesn't come to look by itself within a test. */
async function beside(): Promise<Beside> {
  const { host, engine } = await stage();
  return { host, engine, reader: await openEngineReader({ dir: "/store", host, pollMillis: 60_000 }) };
}

/** A commit, and what states it durable a little later. */
async function commit({ host, engine }: Beside): Promise<void> {
  await engine.commit((batch) => batch.put("state", "a", Buffer.from("1")));
  await host.advance(100);
}

function withoutNotices({ files, clock, random, workers }: SimulatedHost): Host {
  const deaf: Files = new Proxy(files, {
    get: (of, name: keyof Files) => (name === "watch" ? () => ({ close: () => undefined }) : of[name].bind(of)),
  });
  return { files: deaf, clock, random, workers };
}

async function close({ engine, reader }: Beside): Promise<void> {
  await reader.close();
  await engine.close();
}

describe("who waits for news", () => {
  test("says of what", async () => {
    const stores = await beside();
    const nowhere = undefined as unknown as number;
    await expect(stores.reader.news(nowhere)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await close(stores);
  });

  test("hears at once of what was stated before it waits", async () => {
    const stores = await beside();
    await commit(stores);
    const news = stores.reader.news(0);
    await stores.host.settle();
    expect(stores.reader.revision).toBe(1);
    await news;
    await close(stores);
  });

  test("hears of what comes while it waits by the file system's notice", async () => {
    const stores = await beside();
    const news = stores.reader.news(0);
    await stores.host.settle();
    await commit(stores);
    expect(stores.reader.revision).toBe(1);
    await news;
    await close(stores);
  });

  test("hears of what is stated while a look is under way", async () => {
    const stores = await beside();
    // Of a look, that is behind the journal.
    const held = stores.host.hold(["stat"], /CURRENT$/);
    const news = stores.reader.news(0);
    await commit(stores);
    expect(stores.reader.revision).toBe(0);
    held.release();
    await stores.host.settle();
    expect(stores.reader.revision).toBe(1);
    await news;
    await close(stores);
  });

  test("looks now and then where the file system gives no notice", async () => {
    const stores = await beside();
    const reader = await openEngineReader({ dir: "/store", host: withoutNotices(stores.host), pollMillis: 500 });
    const news = reader.news(0);
    await stores.host.settle();
    await commit(stores);
    expect(reader.revision).toBe(0);
    await stores.host.advance(500);
    await news;
    expect(reader.revision).toBe(1);
    await reader.close();
    await close(stores);
  });

  test("is rejected with what the first look meets", async () => {
    const stores = await beside();
    const manifest = (await stores.host.files.list("/store")).find((name) => name.startsWith("manifest"));
    await stores.host.files.remove(`/store/${manifest}`);
    await expect(stores.reader.news(0)).rejects.toMatchObject({ code: "CORRUPT" });
    await close(stores);
  });
});
