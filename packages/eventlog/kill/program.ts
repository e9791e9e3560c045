// The program that is killed: several writers append to one log and tell the parent what has become durable.
import { acknowledged, dropped, dropping, killLine, opened, opening, SeededRandom } from "@ehdb/harness";
import type { KillLine, KillLoad } from "@ehdb/harness";
import type { NewEvent } from "@ehdb/contracts";
import { openEventLog } from "@ehdb/eventlog";
import type { DurableEventLog } from "@ehdb/eventlog";
import { consumerOf, dataOf, scratchOf } from "./records.ts";
import type { Beforehand } from "./records.ts";
import { logOptions } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

const { directory, incarnation, settings, defect } = JSON.parse(process.argv[2] ?? "") as KillLoad;
const load = settings as KillSettings;
const random = new SeededRandom(load.seed * 1000 + incarnation);

say(opening);
// Sync mostly; every third incarnation lets a timer bring the syncs about, and in every eighth the system's memory is enough.
const durability = incarnation % 8 === 0 ? "async" : incarnation % 3 === 0 ? "batch" : "sync";
const log = await openEventLog({ ...logOptions(directory, load), durability });
say(opened);

if (defect === "acknowledges before it is written") await falsely(`${incarnation}.f`);
await Promise.all([
  ...Array.from({ length: 2 + random.integer(14) }, (_, index) => single(log, `${incarnation}.${index}`)),
  ...Array.from({ length: random.integer(3) }, (_, index) => several(log, `${incarnation}.b${index}`)),
  ...Array.from({ length: random.integer(3) }, (_, index) => pipelined(log, `${incarnation}.p${index}`)),
  ...["h0", "h1"].map((slot) => hiding(log, `${incarnation}.${slot}`)),
  ...(random.integer(2) === 0 ? [reclaiming(log)] : []),
  ...(random.integer(2) === 0 ? [sealing(log)] : []),
]);

function event(writer: string, number: number, metadata?: Beforehand): NewEvent {
  const id = `${writer}:${number}`;
  return { type: "counted", id, data: dataOf(id), ...(metadata === undefined ? {} : { metadata }) };
}

/** One append, its acknowledgement, the next. Now and then one is called again, as by a caller who didn't hear. */
async function single(store: DurableEventLog, writer: string): Promise<never> {
  for (let number = 1; ; number++) {
    const one = event(writer, number);
    const { position } = await store.append(writer, one, { expect: number - 1 });
    say(acknowledged(`${writer}:${number}`, position));
    if (defect === "appends twice") await store.append(`${writer}+`, one);
    if (random.integer(8) === 0) {
      const again = await store.append(writer, one, { expect: number - 1 });
      if (again.position !== position) say(acknowledged(`${writer}:${number}`, again.position));
    }
  }
}

/** Several events that are kept or lost together. */
async function several(store: DurableEventLog, writer: string): Promise<never> {
  for (let number = 1; ;) {
    const first = number;
    number += 1 + random.integer(40);
    const events = Array.from({ length: number - first }, (_, place) => event(writer, first + place));
    const { firstPosition } = await store.append(writer, events);
    for (let place = 0; place < events.length; place++)
      say(acknowledged(`${writer}:${first + place}`, firstPosition + place));
  }
}

/** Calls several appends at once: they take effect in the order of the calls. */
async function pipelined(store: DurableEventLog, writer: string): Promise<never> {
  for (let number = 1; ;) {
    await store.ready();
    const first = number;
    const appends = Array.from({ length: 1 + random.integer(12) }, () => store.append(writer, event(writer, number++)));
    for (const [place, { position }] of (await Promise.all(appends)).entries())
      say(acknowledged(`${writer}:${first + place}`, position));
  }
}

/** Acknowledges for a consumer and deletes a stream, then appends an event that says so: where it is, the others must be. */
async function hiding(store: DurableEventLog, writer: string): Promise<never> {
  for (let number = 1; ; number++) {
    await new Promise<void>((resolve) => void setTimeout(resolve, random.integer(20)));
    const scratch = await store.append(scratchOf(writer), { type: "scratch", id: `${writer}:${number}` });
    const beforehand = { acknowledged: scratch.position, deletedAt: scratch.version };
    if (defect !== "says that a deletion is done") {
      await store.consumer(consumerOf(writer)).ack(scratch.position);
      await store.deleteStream(scratchOf(writer), { expect: "exists" });
    }
    const { position } = await store.append(writer, event(writer, number, beforehand));
    say(acknowledged(`${writer}:${number}`, position));
  }
}

/** A consumer of its own holds each reclaim back, so that what may go is known before. */
async function reclaiming(store: DurableEventLog): Promise<never> {
  const reclaimer = store.consumer("reclaimer");
  for (;;) {
    await new Promise<void>((resolve) => void setTimeout(resolve, random.integer(60)));
    const last = await reclaimer.ack(Math.max(0, store.position - random.integer(2000)));
    say(dropping(last + 1));
    say(dropped(await store.reclaim({ acknowledged: true })));
  }
}

async function sealing(store: DurableEventLog): Promise<never> {
  for (;;) {
    await store.engine.flush();
    await store.engine.seal();
  }
}

/** The planted defect: acknowledges what has only been handed to memory. */
async function falsely(writer: string): Promise<never> {
  log.engine.setDurability("async");
  const { position } = log;
  for (let number = 1; ; number++) {
    void log.append(writer, event(writer, number));
    say(acknowledged(`${writer}:${number}`, position + number));
    if (number % 16 === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** A pipe to the parent takes a line before the call returns, so that what was said survives the kill. */
function say(line: KillLine): void {
  process.stdout.write(killLine(line));
}
