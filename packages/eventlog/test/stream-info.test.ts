import type { LogRecord } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { dataset } from "../src/datasets.ts";
import { StreamsFacts } from "../src/stream-facts.ts";
import { streamInfo } from "../src/stream-info.ts";
import type { StreamLookups } from "../src/stream-info.ts";
import { stage } from "./drive.ts";
import type { Stage } from "./drive.ts";
import { numbered } from "./events.ts";

/** Before the first read of a stream `meanwhile` is done. */
async function lookupsOf({ log }: Stage, meanwhile: () => Promise<unknown>): Promise<StreamLookups> {
  const { engine } = log;
  const events = engine.log(dataset.events);
  let edition = 0;
  const streams = new StreamsFacts(engine.map(dataset.streams), () => edition);
  await streams.open();
  async function* read(...call: Parameters<typeof events.read>): AsyncGenerator<readonly LogRecord[]> {
    if (edition++ === 0) await meanwhile();
    yield* events.read(...call);
  }
  return { streams, events: { read, version: (stream) => events.version(stream) } };
}

describe("the info of a stream", () => {
  test("is of one moment, although others append and truncate meanwhile", async () => {
    const staged = await stage();
    const { log } = staged;
    await log.append("s", numbered(10));
    const lookups = await lookupsOf(staged, async () => {
      await log.append("s", numbered(5));
      await log.truncateStream("s", 13);
      await log.engine.scavenge();
    });
    expect(await streamInfo(lookups, "s")).toEqual({ stream: "s", version: 15, firstVersion: 13, isDeleted: false });
    await log.close();
  });

  test("is of one moment, although somebody deletes it meanwhile", async () => {
    const staged = await stage();
    const { log } = staged;
    await log.append("s", numbered(10));
    const lookups = await lookupsOf(staged, async () => {
      await log.deleteStream("s");
      await log.engine.scavenge();
    });
    expect(await streamInfo(lookups, "s")).toEqual({ stream: "s", version: 10, firstVersion: 11, isDeleted: true });
    await log.close();
  });

  test("comes to an end when what is hidden goes further than what is there", async () => {
    const staged = await stage();
    const { log } = staged;
    await log.append("s", numbered(10));
    await log.truncateStream("s", 11);
    const lookups = await lookupsOf(staged, async () => undefined);
    const events = { ...lookups.events, version: async () => 4 };
    expect(await streamInfo({ ...lookups, events }, "s")).toMatchObject({ version: 4, firstVersion: 11 });
    await log.close();
  });
});
