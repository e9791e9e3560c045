import type { Stage } from "@ehdb/harness";
import { openJournalReader } from "../src/index.ts";
import type { JournalReader, JournalRecord, RecordStream, TailOptions } from "../src/index.ts";
import { codeOf, DIRECTORY, inspect, mayHappen } from "./context.ts";
import type { Run, Work } from "./context.ts";
import type { Shown } from "./ledger.ts";
import { drawKeys } from "./settings.ts";

/** Reads in all the ways there are, for a while. */
export async function reader(work: Work, operations: number): Promise<void> {
  const { run, stage } = work;
  const { random } = run;
  for (let left = operations; left > 0 && work.journal.state !== "closed"; left--) {
    const choice = random.between(0, 9);
    if (choice < 4) await readOne(work);
    else if (choice < 8) await scanSome(work);
    else if (choice < 9) await verify(work);
    else await stage.pause(random.pick([1, 20, 100]));
    inspect(work);
  }
}

async function readOne(work: Work): Promise<void> {
  const { run, journal, stage } = work;
  const { first, last } = journal;
  const aside = run.random.chance(0.1);
  const sequence = aside
    ? run.random.pick([last + 1_000_000, Math.max(1, first - 1)])
    : run.random.between(first, last);
  if (sequence < 1 || (!aside && last < first)) return;
  await stage.step(`read(${sequence})`, async () => {
    try {
      const record = await journal.read(sequence);
      run.counts.reads++;
      if (record.sequence !== sequence) run.ledger.fail(`read(${sequence}) resolved with ${record.sequence}`);
      if (sequence < run.ledger.low)
        run.ledger.fail(`read(${sequence}) found a record below ${run.ledger.low}, where all was dropped`);
      look(run, record, work.showsDurable);
    } catch (error) {
      const code = codeOf(error);
      if (code === "COMPACTED" && sequence < run.ledger.lowMost) return;
      if (code === "OUT_OF_RANGE" && (sequence > last || journal.state === "poisoned")) return;
      readError(work, error);
    }
  });
}

async function scanSome(work: Work): Promise<void> {
  const { run, journal, stage } = work;
  const { random, ledger } = run;
  const { first, last } = journal;
  if (last < first) return;
  const from = random.chance(0.5) ? first : random.between(first, last);
  const to = random.chance(0.5) ? undefined : random.between(from, last);
  await stage.step(`a scan from ${from}`, async () => {
    try {
      let next = from;
      for await (const batch of batchesOf(run, journal.scan({ from, ...(to === undefined ? {} : { to }) }))) {
        for (const record of batch) {
          if (record.sequence !== next) ledger.fail(`a scan went from ${next - 1} to ${record.sequence}`);
          next = record.sequence + 1;
          look(run, record, work.showsDurable);
        }
      }
      run.counts.scans++;
      if (next <= Math.min(to ?? last, last) && journal.state !== "poisoned")
        ledger.fail(`a scan from ${from} to ${to ?? last} ended at ${next - 1}`);
      if (to !== undefined && next > to + 1) ledger.fail(`a scan to ${to} went on to ${next - 1}`);
    } catch (error) {
      if (codeOf(error) === "COMPACTED" && from < ledger.lowMost) return;
      readError(work, error);
    }
  });
}

export async function verify(work: Work): Promise<void> {
  await work.stage.step("verify", async () => {
    try {
      const report = await work.journal.verify();
      work.run.counts.verifies++;
      if (!report.ok && work.journal.state !== "poisoned")
        work.run.ledger.fail(`verify found damage: ${JSON.stringify(report.damage[0])}`);
    } catch (error) {
      readError(work, error);
    }
  });
}

/** Follows the log from some place until it's told to stop, by whatever name the log may cut what it was shown. */
export async function tail(
  work: Work,
  reader: JournalReader,
  signal: AbortSignal,
  firmly: () => boolean,
): Promise<void> {
  const { run, stage } = work;
  const { random, ledger } = run;
  const options: TailOptions =
    random.chance(0.5) || reader.last < reader.first
      ? { signal }
      : { signal, from: random.between(reader.first, reader.last + 1) };
  let previous: Shown | undefined;
  let next = options.from ?? 0;
  run.counts.tails++;
  await stage.step("a tail", async () => {
    try {
      for await (const batch of batchesOf(run, reader.tail(options))) {
        for (const record of batch) {
          if (next !== 0 && record.sequence !== next) ledger.fail(`a tail went from ${next - 1} to ${record.sequence}`);
          if (previous?.write.state === "cut")
            ledger.fail(`a tail went on at ${record.sequence} after the record before was cut`);
          next = record.sequence + 1;
          previous = look(run, record, firmly());
        }
      }
      if (!signal.aborted) ledger.fail("a tail ended by itself");
    } catch (error) {
      const code = codeOf(error);
      if ((code === "ABORTED" || code === "CLOSED") && signal.aborted) return;
      if (code === "TRUNCATED" && previous !== undefined) {
        run.counts.tailsCut++;
        ledger.saidCut(previous);
        return;
      }
      if (code === "COMPACTED" && next < ledger.lowMost) return;
      if (code === "CLOSED" && work.closing) return;
      readError(work, error);
    }
  });
}

/** Another process that only reads, beside the writer. */
export async function readerProcess(work: Work, signal: AbortSignal): Promise<void> {
  const { run, stage } = work;
  const { random, ledger } = run;
  const options = {
    dir: DIRECTORY,
    host: run.host,
    pollMillis: 50,
    ...(run.settings.encrypted ? { encryption: drawKeys(random) } : {}),
  };
  const journal = await stage.step("opening a reader", async () => {
    try {
      return await openJournalReader(options);
    } catch (error) {
      readError(work, error);
      return undefined;
    }
  });
  if (journal === undefined) return;
  run.counts.readers++;
  stage.start("a reader's tail", async () => await tail(work, journal, signal, () => true));
  for (let rounds = random.between(1, 4); rounds > 0 && !signal.aborted; rounds--) {
    await stage.step("refresh", async () => {
      try {
        const last = await journal.refresh();
        ledger.acknowledge(last);
        for await (const batch of batchesOf(run, journal.scan())) {
          for (const record of batch) look(run, record, true);
          run.counts.readerRecords += batch.length;
        }
      } catch (error) {
        if (codeOf(error) !== "COMPACTED" || ledger.lowMost === 1) readError(work, error);
      }
    });
    await stage.pause(random.pick([10, 70]));
  }
  await until(stage, signal);
  await stage.step("closing a reader", async () => await journal.close());
}

async function until(stage: Stage, signal: AbortSignal): Promise<void> {
  await stage.step("the end of the work", async () => {
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  });
}

/** Sometimes record by record, mostly by batches. */
export function batchesOf(run: Run, stream: RecordStream): AsyncIterable<readonly JournalRecord[]> {
  return run.random.chance(0.8) ? stream.batches() : singly(stream);
}

async function* singly(stream: RecordStream): AsyncGenerator<readonly JournalRecord[]> {
  for await (const record of stream) yield [record];
}

/** A record was shown: it must be what was asked for. Some places are kept, to go on from later. */
export function look(run: Run, record: JournalRecord, firmly: boolean): Shown | undefined {
  run.ledger.see(record, firmly);
  const shown = run.ledger.shown(record);
  if (shown !== undefined && run.random.chance(0.05)) {
    if (run.shown.length < 12) run.shown.push(shown);
    else run.shown[run.random.between(0, 11)] = shown;
  }
  return shown;
}

function readError(work: Work, error: unknown): void {
  const code = codeOf(error);
  if (code === "IO_ERROR" && mayHappen(work.run, code)) return;
  if (code === "CLOSED" && work.closing) return;
  throw error;
}
