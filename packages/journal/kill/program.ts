// The program that is killed: several writers append to one journal and tell the parent what has become durable.
import { acknowledged, dropped, dropping, killLine, opened, opening, SeededRandom } from "@ehdb/harness";
import type { KillLine, KillLoad } from "@ehdb/harness";
import { openJournal } from "@ehdb/journal";
import type { Journal } from "@ehdb/journal";
import { recordOf } from "./records.ts";
import { journalOptions } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

const { directory, incarnation, settings, defect } = JSON.parse(process.argv[2] ?? "") as KillLoad;
const load = settings as KillSettings;
const random = new SeededRandom(load.seed * 1000 + incarnation);
const keptRecords = 300;

say(opening);
// Sync mostly; every third incarnation lets a timer bring the syncs about, and every eighth the waiting callers.
const durability = incarnation % 8 === 0 ? "async" : incarnation % 3 === 0 ? "batch" : "sync";
const journal = await openJournal({ ...journalOptions(directory, load), durability });
say(opened);

const singles = Array.from({ length: 2 + random.integer(14) }, (_, index) =>
  single(journal, `${incarnation}.${index}`),
);
const batches = Array.from({ length: random.integer(3) }, (_, index) => batched(journal, `${incarnation}.b${index}`));
const pipelines = Array.from({ length: random.integer(3) }, (_, index) =>
  pipelined(journal, `${incarnation}.p${index}`),
);
await Promise.all([...singles, ...batches, ...pipelines, ...(random.integer(2) === 0 ? [dropOld(journal)] : [])]);

/** One record, its acknowledgement, the next. */
async function single(log: Journal, writer: string): Promise<never> {
  for (let number = 1; ; number++) {
    const id = `${writer}:${number}`;
    const record = recordOf(id);
    if (defect === "acknowledges before it is durable") return await falsely(log, writer, number);
    const sequence = await log.appendDurable(record);
    if (defect === "appends twice") await log.appendDurable(record);
    say(acknowledged(id, sequence));
  }
}

/** Several at once that are kept or lost together. */
async function batched(log: Journal, writer: string): Promise<never> {
  for (let number = 1; ;) {
    const ids = Array.from({ length: 1 + random.integer(40) }, () => `${writer}:${number++}`);
    const { first } = await log.appendAllDurable(ids.map(recordOf));
    for (const [index, id] of ids.entries()) say(acknowledged(id, first + index));
  }
}

/** Appends without waiting and waits for the last of them: what lies before it is then durable too. */
async function pipelined(log: Journal, writer: string): Promise<never> {
  for (let number = 1; ;) {
    await log.ready(1024 * 1024);
    const minted = Array.from({ length: 1 + random.integer(12) }, () => {
      const id = `${writer}:${number++}`;
      return { id, sequence: log.append(recordOf(id)) };
    });
    await log.durable(minted.at(-1)?.sequence ?? 0);
    for (const { id, sequence } of minted) say(acknowledged(id, sequence));
  }
}

/** Keeps about the newest records, and says before each drop what may go. */
async function dropOld(log: Journal): Promise<never> {
  for (;;) {
    await log.durable(log.cursors.appended);
    for (let turns = 0; turns < 20; turns++) await log.flush();
    const first = log.cursors.durable - keptRecords;
    if (first <= log.first) continue;
    say(dropping(first));
    await log.dropBefore(first);
    say(dropped(first));
  }
}

/** The planted defect: acknowledges what has only been handed to memory. */
async function falsely(log: Journal, writer: string, from: number): Promise<never> {
  log.setDurability("async");
  for (let number = from; ; number++) {
    const id = `${writer}:${number}`;
    await log.ready();
    say(acknowledged(id, log.append(recordOf(id))));
  }
}

/** A pipe to the parent takes a line before the call returns, so that what was said survives the kill. */
function say(line: KillLine): void {
  process.stdout.write(killLine(line));
}
