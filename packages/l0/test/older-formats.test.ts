import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "@ehdb/l0";
import { afterEach, beforeEach, expect, test } from "vitest";

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "ehdb-l0-")), "store");
});
afterEach(() => rm(join(dir, ".."), { recursive: true }));

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

/** What the program that made `stores/format-1` had committed: see there. */
function orders(): string[] {
  return Array.from({ length: 60 }, (_, i) => `${i + 1} customer-${(i + 1) % 7} id-${i + 1} order ${i + 1}`);
}

function stock(): Map<string, string> {
  const values = new Map<string, string>();
  for (let i = 1; i <= 60; i++) {
    values.set(`article-${i % 11}`, `left ${i}`);
    if (i % 9 === 0) values.delete(`article-${i % 5}`);
  }
  return values;
}

test("a store with parts and a manifest of format version 1 is read, goes on, and is merged", async () => {
  await cp(join(import.meta.dirname, "stores/format-1"), dir, { recursive: true });
  const datasets = [
    { name: "orders", order: "by-sort" },
    { name: "stock", order: "by-key" },
  ] as const;
  const engine = await openEngine({ dir, datasets, reserveBytes: 0, background: false, historyRevisions: 0 });
  const ordersNow = async (): Promise<string[]> =>
    (await all(engine.log("orders").scan())).map(
      ({ sort, key, id, payload }) => `${sort} ${key} ${id} ${Buffer.from(payload).toString()}`,
    );
  const stockNow = async (): Promise<Map<string, string>> =>
    new Map((await all(engine.map("stock").scan())).map(({ key, payload }) => [key, Buffer.from(payload).toString()]));
  const repeat = async (): Promise<unknown> =>
    await engine.commit((batch) => {
      batch.append("orders", "customer-3", Buffer.from("order 10"), "id-10");
    });
  expect(await ordersNow()).toEqual(orders());
  expect(await stockNow()).toEqual(stock());
  const first = await repeat();
  expect(first).toMatchObject({ isDuplicate: true, revision: 10, appended: [{ sort: 10, version: 2 }] });
  await engine.commit((batch) => batch.erase("orders", "customer-3", 3));
  await engine.scavenge();
  expect(await ordersNow()).toEqual(orders().filter((order) => !/^(3|10) /.test(order)));
  expect(await stockNow()).toEqual(stock());
  expect(await repeat()).toEqual(first);
  expect(engine.stats().manifest_parts).toBe(2);
  await engine.close();
});
