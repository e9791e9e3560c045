// The program whose machine fails: it has a journal or a reader, does what it's told a line at a time, and says what came of it.
import { EhdbError } from "@ehdb/contracts";
import { openJournal, openJournalReader } from "@ehdb/journal";
import type { Cursors, DropReport, Journal, JournalOptions, ReadOnlyJournal, RecoveryReport } from "@ehdb/journal";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { idOf, isIntact, recordOf } from "./records.ts";
import type { Found, Order, Outcome, Refusal, Telling } from "./telling.ts";

let opened: Journal | undefined;
let openedReader: ReadOnlyJournal | undefined;
const descriptors: number[] = [];

const performer = {
  async open(options: JournalOptions): Promise<Journal["state"]> {
    opened = await openJournal(options);
    return opened.state;
  },

  async openReader(dir: string): Promise<number> {
    openedReader = await openJournalReader({ dir });
    return openedReader.last;
  },

  /** Each durable before the next; stops after one that is refused. */
  async append(ids: readonly string[], bytes: number): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const id of ids) {
      const outcome = await appendOne(id, bytes);
      outcomes.push(outcome);
      if (outcome.refusal !== undefined) break;
    }
    return outcomes;
  },

  async appendTogether(ids: readonly string[], bytes: number): Promise<Outcome[]> {
    return await Promise.all(ids.map((id) => appendOne(id, bytes)));
  },

  /** Appends until the end of the process, and tells of each record once it's durable. */
  async keepAppending(name: string, bytes: number): Promise<void> {
    void (async () => {
      for (let number = 1; ; number++) {
        const outcome = await appendOne(`${name}:${number}`, bytes);
        if (outcome.refusal !== undefined) return say({ says: "ended", refusal: outcome.refusal });
        say({ says: "acknowledged", outcome });
      }
    })();
  },

  async readAll(): Promise<Found[]> {
    const all: Found[] = [];
    for await (const record of (opened ?? reader()).scan()) all.push(found(record));
    return all;
  },

  /** Follows the reader's log from its first record, and tells of what comes. */
  async keepReading(): Promise<void> {
    const onCaughtUp = (sequence: number): void => say({ says: "caught up", sequence });
    void (async () => {
      for await (const records of reader().tail({ onCaughtUp }).batches())
        say({ says: "read", records: records.map(found) });
    })().catch((error: unknown) => say({ says: "ended", refusal: refusalOf(error) }));
  },

  async last(): Promise<number> {
    return (opened ?? reader()).last;
  },

  async refresh(): Promise<number> {
    return await reader().refresh();
  },

  async state(): Promise<{ readonly state: Journal["state"]; readonly cursors: Cursors }> {
    const { state, cursors } = journal();
    return { state, cursors };
  },

  async reopen(): Promise<RecoveryReport> {
    return await journal().reopen();
  },

  async dropBefore(sequence: number): Promise<DropReport> {
    return await journal().dropBefore(sequence);
  },

  async close(): Promise<string> {
    const { state } = await journal().close();
    opened = undefined;
    return state;
  },

  /** Takes every descriptor that the process may have, and gives `left` back. */
  async takeDescriptors(left: number): Promise<void> {
    for (;;) {
      try {
        descriptors.push(openSync("/dev/null", "r"));
      } catch {
        break;
      }
    }
    for (const descriptor of descriptors.splice(0, left)) closeSync(descriptor);
  },

  async giveDescriptors(): Promise<void> {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  },
};

export type Performer = typeof performer;

function journal(): Journal {
  if (opened === undefined) throw new Error("no journal is open");
  return opened;
}

function reader(): ReadOnlyJournal {
  if (openedReader === undefined) throw new Error("no reader is open");
  return openedReader;
}

async function appendOne(id: string, bytes: number): Promise<Outcome> {
  try {
    return { id, sequence: await journal().appendDurable(recordOf(id, bytes)) };
  } catch (error) {
    return { id, refusal: refusalOf(error) };
  }
}

function found({ sequence, data }: { readonly sequence: number; readonly data: Uint8Array }): Found {
  return { sequence, id: idOf(data), intact: isIntact(data) };
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof EhdbError) return { code: error.code, message: error.message, data: error.data };
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** A pipe to the parent takes a line before the call returns, so that what was said survives a kill. */
function say(telling: Telling): void {
  process.stdout.write(`${JSON.stringify(telling)}\n`);
}

async function perform({ number, name, values }: Order): Promise<void> {
  try {
    const work = performer[name as keyof Performer] as (...values: readonly unknown[]) => Promise<unknown>;
    say({ says: "answer", number, value: await work(...values) });
  } catch (error) {
    say({ says: "answer", number, refusal: refusalOf(error) });
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => void perform(JSON.parse(line) as Order))
  .on("close", () => process.exit());
say({ says: "ready" });
