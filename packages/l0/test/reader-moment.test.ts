import { expect, test } from "vitest";
import { newDataset } from "../src/meta.ts";
import { Moment } from "../src/reader/moment.ts";
import { ResumedLog } from "../src/reader/resumed-log.ts";
import type { ResumedContext } from "../src/reader/resumed-reads.ts";
import type { PartShelf } from "../src/reader/part-shelf.ts";
import { Store } from "../src/store.ts";

class CountedMap<K, V> extends Map<K, V> {
  gets = 0;

  override get(key: K): V | undefined {
    this.gets++;
    return super.get(key);
  }
}

function moment(revision: number, logs: Map<number, never[]> = new Map()): Moment {
  const metas = [newDataset(1, "events", "by-sort")];
  const parts = { logs, maps: new Map() };
  return new Moment(revision, 1, new Store(metas, metas, parts, revision + 1), parts, {} as PartShelf);
}

test("a moment looks through its parts once for a dataset's last revision, however often it's asked", () => {
  const logs = new CountedMap<number, never[]>([[1, []]]);
  const one = moment(7, logs);
  for (let times = 0; times < 100; times++) expect(one.lastRevision("events")).toBe(0);
  expect(logs.gets).toBe(1);
});

test("a log that is asked for its ends again and again makes nothing new until there is another moment", () => {
  let now = moment(7);
  let made = 0;
  const context = {
    now: () => now,
    at: ({ view, store }: Moment) => {
      made++;
      return {
        view: () => view,
        readable: () => 7,
        nextSort: () => 1,
        dataset: (name: string) => store.datasets.get(name),
      };
    },
  };
  const log = new ResumedLog(context as unknown as ResumedContext, "events");
  for (let times = 0; times < 100; times++) expect([log.first, log.last]).toEqual([1, 0]);
  expect(made).toBe(1);
  now = moment(8);
  expect(log.first).toBe(1);
  expect(made).toBe(2);
});
