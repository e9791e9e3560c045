// What is committed can't be sealed, and commits wait for it: the state says so.
import type { FaultCode, OperationKind } from "@ehdb/host";
import { describe, expect, it } from "vitest";
import type { DurableEngine } from "@ehdb/l0";
import { fill } from "./care/drive.ts";
import { stage } from "./drive.ts";

describe("an engine that can't seal", () => {
  it.each<readonly [OperationKind, FaultCode, string, DurableEngine["state"]]>([
    ["create", "EIO", "IO_ERROR", "stalled"],
    ["create", "EROFS" as FaultCode, "IO_ERROR", "stalled"],
    ["create", "ENOSPC", "NO_SPACE", "no-space"],
  ])(
    "after %s failed with %s refuses commits with %s, its state is %s, and goes on by itself",
    async (kind, errno, code, state) => {
      const { host, engine } = await stage({
        datasets: [
          { name: "events", order: "by-sort" },
          { name: "state", order: "by-key" },
        ],
      });
      const failures = 12;
      for (let i = 0; i < failures; i++) host.failNext(kind, errno, /parts\//);
      await expect(fill(engine, 3000)).rejects.toMatchObject({ code });
      expect([engine.state, engine.stats().not_open]).toEqual([state, 1]);
      await expect(engine.ready()).rejects.toMatchObject({ code });
      expect([...new Set((await firstOf(engine)).keys())]).not.toEqual([]);
      if (state === "stalled") {
        const reopened = engine.reopen().catch((error: unknown) => error);
        await host.advance(250);
        expect(await reopened).toMatchObject({ code });
      }
      await host.advance(250 * (failures + 1));
      expect([engine.state, engine.stats().not_open]).toEqual(["open", 0]);
      await engine.ready();
      await engine.commit((batch) => batch.put("state", "k", Buffer.from("v")));
      expect(await engine.close()).toMatchObject({ state: "clean" });
    },
  );

  it("is open again after a reopen() that could seal", async () => {
    const { host, engine } = await stage({
      datasets: [
        { name: "events", order: "by-sort" },
        { name: "state", order: "by-key" },
      ],
    });
    for (let i = 0; i < 3; i++) host.failNext("create", "EIO", /parts\//);
    await fill(engine, 3000).catch(() => undefined);
    expect(engine.state).toBe("stalled");
    const { epoch } = engine;
    for (let tries = 0; tries < 4 && engine.state === "stalled"; tries++) {
      const reopened = engine.reopen().catch(() => undefined);
      await host.advance(250);
      await reopened;
    }
    expect([engine.state, engine.epoch]).toEqual(["open", epoch]);
    await engine.close();
  });
});

/** Reads go on. */
async function firstOf(engine: DurableEngine): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for await (const batch of engine.map("state").scan()) for (const { key, payload } of batch) found.set(key, payload);
  return found;
}
