// The program that is killed: several writers commit to one engine and tell the parent what has become durable.
import { acknowledged, killLine, opened, opening, SeededRandom } from "@ehdb/harness";
import type { KillLine, KillLoad } from "@ehdb/harness";
import type { WriteBatch } from "@ehdb/contracts";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { payloadOf } from "./records.ts";
import { engineOptions } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

const { directory, incarnation, settings, defect } = JSON.parse(process.argv[2] ?? "") as KillLoad;
const load = settings as KillSettings;
const random = new SeededRandom(load.seed * 1000 + incarnation);

say(opening);
// Sync mostly; every third incarnation lets a timer bring the syncs about, and in every eighth the system's memory is enough.
const durability = incarnation % 8 === 0 ? "async" : incarnation % 3 === 0 ? "batch" : "sync";
const engine = await openEngine({ ...engineOptions(directory, load), durability });
say(opened);

if (defect === "acknowledges before it is written") await falsely(engine, `${incarnation}.f`);
await Promise.all([
  ...Array.from({ length: 2 + random.integer(14) }, (_, index) => single(engine, `${incarnation}.${index}`)),
  ...Array.from({ length: random.integer(3) }, (_, index) => several(engine, `${incarnation}.b${index}`)),
  ...Array.from({ length: random.integer(3) }, (_, index) => pipelined(engine, `${incarnation}.p${index}`)),
  ...(random.integer(2) === 0 ? [sealing(engine)] : []),
]);

/** One record of a writer, on the version that it expects, and its number beside it. */
function state(batch: WriteBatch, writer: string, number: number): void {
  const id = `${writer}:${number}`;
  batch.append("events", writer, payloadOf(id), id);
  batch.put("state", writer, Buffer.from(String(number)));
}

/** One commit, its acknowledgement, the next. Now and then one is called again, as by a caller who didn't hear. */
async function single(store: DurableEngine, writer: string): Promise<never> {
  for (let number = 1; ; number++) {
    const stage = (batch: WriteBatch): void => {
      if (defect === undefined) batch.expect("events", writer, number - 1);
      state(batch, writer, number);
    };
    const commit = await store.commit(stage);
    const sort = commit.appended[0]?.sort ?? 0;
    say(acknowledged(`${writer}:${number}`, sort));
    if (defect === "commits twice")
      await store.commit((batch) =>
        batch.append("events", `${writer}+`, payloadOf(`${writer}:${number}`), `${writer}:${number}`),
      );
    if (random.integer(8) === 0) {
      const again = await store.commit(stage);
      if (again.appended[0]?.sort !== sort) say(acknowledged(`${writer}:${number}`, again.appended[0]?.sort ?? 0));
    }
  }
}

/** Several records that are kept or lost together. */
async function several(store: DurableEngine, writer: string): Promise<never> {
  for (let number = 1; ;) {
    const first = number;
    number += 1 + random.integer(40);
    const commit = await store.commit((batch) => {
      for (let each = first; each < number; each++) state(batch, writer, each);
    });
    for (const [place, { sort }] of commit.appended.entries()) say(acknowledged(`${writer}:${first + place}`, sort));
  }
}

/** Calls several commits at once: their order is that of the calls. */
async function pipelined(store: DurableEngine, writer: string): Promise<never> {
  for (let number = 1; ;) {
    await store.ready();
    const ids: string[] = [];
    const commits = Array.from({ length: 1 + random.integer(12) }, () => {
      const own = number++;
      ids.push(`${writer}:${own}`);
      return store.commit((batch) => state(batch, writer, own));
    });
    for (const [place, { appended }] of (await Promise.all(commits)).entries())
      say(acknowledged(ids[place] ?? "", appended[0]?.sort ?? 0));
  }
}

async function sealing(store: DurableEngine): Promise<never> {
  for (;;) {
    await store.flush();
    await store.seal();
  }
}

/** The planted defect: acknowledges what has only been handed to memory. */
async function falsely(store: DurableEngine, writer: string): Promise<never> {
  store.setDurability("async");
  const { last } = store.log("events");
  for (let number = 1; ; number++) {
    void store.commit((batch) => state(batch, writer, number));
    say(acknowledged(`${writer}:${number}`, last + number));
    if (number % 16 === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** A pipe to the parent takes a line before the call returns, so that what was said survives the kill. */
function say(line: KillLine): void {
  process.stdout.write(killLine(line));
}
