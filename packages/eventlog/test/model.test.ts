import type { EventLogOptions } from "@ehdb/eventlog";
import { describe, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { checkModel } from "./model.ts";
import type { Driven } from "./model.ts";

/** Small, so that histories reach beyond it. */
const dedupeWindow = 12;

async function open(given: Partial<EventLogOptions>, sealsAtReopen: boolean): Promise<Driven> {
  const options = { ...given, dedupeWindow };
  const { host, log } = await stage(options);
  let current = log;
  const reopen = async () => {
    if (sealsAtReopen) await current.engine.seal();
    await current.close();
    current = await openOn(host, options);
    return current;
  };
  return { host, log, reopen };
}

describe("the durable event log equals the reference", () => {
  test("across reopens, unsealed", async () => {
    await checkModel({ open: () => open({}, false), dedupeWindow, seed: 11, histories: 40, steps: 30 });
  });

  test("across reopens, when every few commits make parts", async () => {
    const sealing = { sealMaxCommits: 3 };
    await checkModel({ open: () => open(sealing, true), dedupeWindow, seed: 12, histories: 20, steps: 30 });
  });
});
