import { codeOf, crowd, inspect, mayHappen } from "./context.ts";
import type { Work } from "./context.ts";
import { STAMP_BYTES } from "./ledger.ts";
import type { Write } from "./ledger.ts";

const tooMuch = new Uint8Array(16 * 1024 * 1024 + 1);

/** Appends in all the ways there are, for a while, or until the journal takes no more. */
export async function writer(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (
    let left = operations;
    left > 0 && work.journal.state !== "poisoned" && work.journal.state !== "closed";
    left--
  ) {
    inspect(work);
    const choice = random.between(0, 99);
    if (choice < 25) for (let burst = random.between(1, 12); burst > 0; burst--) append(work);
    else if (choice < 35) appendAll(work);
    else if (choice < 55) await appendDurable(work);
    else if (choice < 65) await appendAllDurable(work);
    else if (choice < 75) await Promise.all(Array.from({ length: random.between(2, 8) }, () => appendDurable(work)));
    else if (choice < 83) await ready(work);
    else if (choice < 89) await flush(work);
    else if (choice < 94) await durable(work);
    else if (choice < 95) await giveUp(work);
    else await stage.pause(random.pick([1, 5, 60, 300]));
  }
  inspect(work);
}

export function append(work: Work, bytes: number = work.run.payloads.size(0)): boolean {
  const { ledger, payloads } = work.run;
  const id = ledger.nextId();
  const write = ledger.ask(id, [payloads.record(id, 0, bytes)], work.epoch);
  return synchronously(work, write, () => work.journal.append(write.records[0] as Uint8Array));
}

function appendAll(work: Work): void {
  const write = askGroup(work);
  synchronously(work, write, () => {
    const { first, last } = work.journal.appendAll(write.records);
    checkRange(work, write, last - first + 1);
    return first;
  });
}

/** The synchronous appends mint here and now, or throw and mint nothing. */
function synchronously(work: Work, write: Write, call: () => number): boolean {
  const { ledger, counts } = work.run;
  const before = work.journal.cursors.appended;
  crowd(work);
  try {
    const first = call();
    ledger.mint(write, first);
    counts.writes++;
    if (first !== before + 1) ledger.fail(`append returned ${first} after ${before}`);
    if (work.journal.cursors.appended !== before + write.records.length)
      ledger.fail(`append returned ${first} and the cursor is ${work.journal.cursors.appended}`);
    return true;
  } catch (error) {
    refused(work, write, error, true);
    if (work.journal.cursors.appended !== before)
      ledger.fail(`append threw ${codeOf(error)}, and minted ${work.journal.cursors.appended - before} records`);
    return false;
  }
}

async function appendDurable(work: Work): Promise<void> {
  const { ledger, payloads } = work.run;
  const id = ledger.nextId();
  const write = ledger.ask(id, [payloads.record(id, 0, payloads.size(STAMP_BYTES))], work.epoch);
  await waiting(
    work,
    write,
    "appendDurable",
    async (signal) => await work.journal.appendDurable(write.records[0] as Uint8Array, signal),
  );
}

async function appendAllDurable(work: Work): Promise<void> {
  const write = askGroup(work);
  await waiting(work, write, "appendAllDurable", async (signal) => {
    const { first, last } = await work.journal.appendAllDurable(write.records, signal);
    checkRange(work, write, last - first + 1);
    return first;
  });
}

async function waiting(
  work: Work,
  write: Write,
  what: string,
  call: (options: { signal?: AbortSignal }) => Promise<number>,
): Promise<void> {
  const { ledger, counts, random } = work.run;
  const aborts = random.chance(0.05);
  const controller = new AbortController();
  if (aborts)
    work.stage.start("an abort", async () => {
      await work.stage.pause(1);
      controller.abort();
    });
  await work.stage.step(what, async () => {
    try {
      crowd(work);
      const first = await call(aborts ? { signal: controller.signal } : {});
      ledger.mint(write, first);
      ledger.acknowledge(first + write.records.length - 1);
      counts.writes++;
      inspect(work);
    } catch (error) {
      if (aborts && codeOf(error) === "ABORTED") ledger.refuse(write, "ABORTED");
      else if (codeOf(error) === "OUTCOME_UNKNOWN" && mayHappen(work.run, "OUTCOME_UNKNOWN")) counts.outcomeUnknown++;
      else refused(work, write, error, false);
    }
  });
}

function refused(work: Work, write: Write, error: unknown, mayBeFull: boolean): void {
  const { ledger, counts } = work.run;
  const code = codeOf(error);
  const expected =
    (mayBeFull && code === "QUEUE_FULL") ||
    (code === "CLOSED" && work.closing) ||
    (code !== "OUTCOME_UNKNOWN" && mayHappen(work.run, code));
  if (!expected || code === undefined) throw error;
  if (code === "QUEUE_FULL") counts.queueFull++;
  if (code === "NO_SPACE") counts.noSpaceErrors++;
  counts.refused++;
  ledger.refuse(write, code);
}

/** What `ready` promised must hold for the code that runs next. */
async function ready(work: Work): Promise<void> {
  const { counts, payloads, random } = work.run;
  const bytes = random.chance(0.1) ? random.between(300_000, 900_000) : payloads.size(STAMP_BYTES);
  const options = random.chance(0.2) ? { timeoutMillis: random.pick([1, 100]) } : {};
  await work.stage.step(`ready(${bytes})`, async () => {
    try {
      await work.journal.ready(bytes, options).then(() => {
        counts.readies++;
        const first = !work.crowded && work.journal.state === "open" && !work.closing;
        if (!append(work, bytes) && first)
          work.run.ledger.fail(`ready(${bytes}) resolved, and the append that followed was refused`);
      });
    } catch (error) {
      const code = codeOf(error);
      if (code === "READY_TIMEOUT" && "timeoutMillis" in options) return;
      if (!mayHappen(work.run, code) && !(code === "CLOSED" && work.closing)) throw error;
    }
  });
}

export async function flush(work: Work): Promise<boolean> {
  const { ledger, counts, random } = work.run;
  const options = random.chance(0.1) ? { timeoutMillis: 1 } : {};
  return await work.stage.step("flush", async () => {
    const { appended } = work.journal.cursors;
    try {
      const reached = await work.journal.flush(options);
      counts.flushes++;
      if (reached < appended) ledger.fail(`flush resolved with ${reached}, and ${appended} had been appended before`);
      ledger.acknowledge(reached);
      inspect(work);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === "FLUSH_TIMEOUT" && "timeoutMillis" in options) return false;
      if (!mayHappen(work.run, code) && !(code === "CLOSED" && work.closing)) throw error;
      return false;
    }
  });
}

async function durable(work: Work): Promise<void> {
  const { ledger, random } = work.run;
  const { appended, durable: sure } = work.journal.cursors;
  const sequence = random.chance(0.1) ? appended + 1 : random.between(sure, appended);
  await work.stage.step(`durable(${sequence})`, async () => {
    try {
      await work.journal.durable(sequence);
      if (sequence > appended) ledger.fail(`durable(${sequence}) resolved, and only ${appended} were given out`);
      ledger.acknowledge(sequence);
      inspect(work);
    } catch (error) {
      const code = codeOf(error);
      if (code === "OUT_OF_RANGE" && sequence > appended) return;
      if (!mayHappen(work.run, code) && !(code === "CLOSED" && work.closing)) throw error;
    }
  });
}

/** A write that is too large, or that nobody wants any more, is refused. */
async function giveUp(work: Work): Promise<void> {
  const { ledger, random } = work.run;
  const id = ledger.nextId();
  const tooLarge = random.chance(0.5);
  const record = tooLarge ? tooMuch : work.run.payloads.record(id, 0, STAMP_BYTES);
  const write = ledger.ask(id, [record], work.epoch);
  await work.stage.step("a write to be refused", async () => {
    try {
      if (tooLarge) work.journal.append(record);
      else await work.journal.appendDurable(record, { signal: AbortSignal.abort() });
      ledger.fail(`a write that was ${tooLarge ? "too large" : "aborted before it began"} was taken`);
    } catch (error) {
      const code = codeOf(error);
      if (
        code !== (tooLarge ? "TOO_LARGE" : "ABORTED") &&
        !mayHappen(work.run, code) &&
        !(code === "CLOSED" && work.closing)
      )
        throw error;
      ledger.refuse(write, String(code));
    }
  });
}

function askGroup(work: Work): Write {
  const { ledger, payloads } = work.run;
  const id = ledger.nextId();
  return ledger.ask(id, payloads.group(id), work.epoch);
}

function checkRange(work: Work, write: Write, count: number): void {
  if (count !== write.records.length)
    work.run.ledger.fail(`${write.records.length} records were given ${count} sequences`);
}
