import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seededPayloads } from "../src/index.ts";
import { peerAppends, peerBatches, peerRanges, peers } from "../src/peers/index.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "peers-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe.each(peers.map((kind) => [kind.name, kind] as const))("%s", (_, kind) => {
  const records = seededPayloads(2, 40);
  const work = (count: number) => ({ directory, records, count });

  it("stores what it appends, one at a time and side by side", async () => {
    expect(await peerAppends(kind, work(20), 1)).toBeGreaterThan(0);
    expect(await peerAppends(kind, work(200), 64)).toBeGreaterThan(0);
  });

  it("stores batches and reads ranges in order", async () => {
    expect(await peerBatches(kind, work(300), 100)).toBeGreaterThan(0);
    expect(await peerRanges(kind, work(1000), 250)).toBeGreaterThan(0);
  });
});
