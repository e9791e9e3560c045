import { isEhdbError } from "@ehdb/contracts";
import { assertCount, median, percentile, SeededRandom, seededPayloads } from "@ehdb/harness";
import type { SoakContext, SoakReport } from "@ehdb/harness";
import { openJournal } from "@ehdb/journal";
import type { Journal, JournalRecord } from "@ehdb/journal";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { columns, rowOf, takeSample } from "./samples.ts";
import type { Progressed, Sample } from "./samples.ts";

const mib = 1024 * 1024;
const segmentBytes = 8 * mib;
const keptBytes = 64 * mib;
/** Each tick appends so many records one by one and so many as one batch, from as many writers as there are ticks under way. */
const tickMillis = 10;
const singles = 40;
const batched = 60;
const readMillis = 5;
const retentionMillis = 2000;
const payloads = seededPayloads(1, 4096);

/** A journal under constant mixed load for minutes: what grows, what slows down, what gets lost on the way to a tail. */
export async function runSoak({ directory, millis, progress }: SoakContext): Promise<SoakReport> {
  const journal = await openJournal({
    dir: join(directory, "journal"),
    segmentBytes,
    retention: { maxBytes: keptBytes },
  });
  const run = new SoakRun(journal, millis, progress);
  const problems = await run.toEnd();
  const { samples } = run;
  const { appended, tailed, read, dropped } = run.progressed;
  const last = samples.at(-1);
  return {
    columns,
    rows: samples.map((sample) => rowOf(sample, samples[0]?.at ?? 0)),
    bounds: [],
    problems: problems.map((found) => ({ what: "journal", found })),
    figures: {
      appended,
      tailed,
      read,
      perSecond: Math.round((appended * 1000) / millis),
      loopDelayP99Millis: samples.length === 0 ? 0 : median(samples.map(({ loopP99Millis }) => loopP99Millis)),
      residentMiB: Math.round((last?.residentBytes ?? 0) / mib),
      diskMiB: Math.round((last?.diskBytes ?? 0) / mib),
      dropped,
    },
  };
}

class SoakRun {
  readonly progressed: Progressed = { appended: 0, tailed: 0, read: 0, dropped: 0, lastTailed: 0 };
  readonly samples: Sample[] = [];
  readonly #journal: Journal;
  readonly #end: number;
  readonly #millis: number;
  readonly #sampleMillis: number;
  readonly #progress: (share: number) => void;
  readonly #stop = new AbortController();
  readonly #problems: string[] = [];

  constructor(journal: Journal, millis: number, progress: (share: number) => void) {
    this.#millis = millis;
    this.#progress = progress;
    this.#journal = journal;
    this.#end = performance.now() + millis;
    this.#sampleMillis = Math.min(10_000, millis / 12);
  }

  async toEnd(): Promise<string[]> {
    const tail = this.#watched(this.#tail(), "the tail");
    const load = [
      this.#watched(this.#write(), "the writers"),
      this.#watched(this.#read(), "the readers"),
      this.#watched(this.#retain(), "retention"),
      this.#watched(this.#sample(), "the samples"),
    ];
    await Promise.all(load);
    const { durable } = this.#journal.cursors;
    const patience = performance.now() + 10_000;
    while (this.progressed.lastTailed < durable && performance.now() < patience && this.#problems.length === 0)
      await pause(20);
    if (this.progressed.lastTailed !== durable)
      this.#problems.push(`the tail ended at ${this.progressed.lastTailed}, ${durable} is durable`);
    this.#stop.abort();
    await tail;
    const { ok, damage } = await this.#journal.verify();
    if (!ok) this.#problems.push(`verify found damage: ${JSON.stringify(damage[0])}`);
    const { state } = await this.#journal.close();
    if (state !== "clean") this.#problems.push(`the journal closed ${state}`);
    this.#judge();
    return this.#problems;
  }

  async #write(): Promise<void> {
    const pending = new Set<Promise<unknown>>();
    let [tick, next] = [performance.now(), 0];
    const record = (): Uint8Array => payloads[next++ % payloads.length] as Uint8Array;
    while (!this.#ended) {
      for (let i = 0; i < singles; i++) this.#track(pending, this.#journal.appendDurable(record()), 1);
      const batch = Array.from({ length: batched }, record);
      this.#track(pending, this.#journal.appendAllDurable(batch), batched);
      tick += tickMillis;
      const left = tick - performance.now();
      // Behind the schedule there is no catching up in one burst: the load stays constant or falls.
      if (left > 0) await pause(left);
      else tick = performance.now();
      if (pending.size > 2000) await Promise.race(pending);
    }
    await Promise.all(pending);
  }

  #track(pending: Set<Promise<unknown>>, append: Promise<unknown>, records: number): void {
    const done = append
      .then(
        () => {
          this.progressed.appended += records;
        },
        (error: unknown) => this.#fail("an append", error),
      )
      .finally(() => pending.delete(done));
    pending.add(done);
  }

  async #tail(): Promise<void> {
    try {
      for await (const records of this.#journal.tail({ from: 1, signal: this.#stop.signal }).batches()) {
        for (const record of records) {
          assertCount("sequence that the tail gives", record.sequence, this.progressed.lastTailed + 1);
          this.#checkRecord(record);
          this.progressed.lastTailed = record.sequence;
          this.progressed.tailed++;
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  /** Single records anywhere in what is kept, beside everything else. */
  async #read(): Promise<void> {
    const random = new SeededRandom(1);
    while (!this.#ended) {
      await pause(readMillis);
      const { first, last } = this.#journal;
      if (last < first) continue;
      const sequence = first + random.integer(last - first + 1);
      try {
        this.#checkRecord(await this.#journal.read(sequence));
        this.progressed.read++;
      } catch (error) {
        // Retention may have come in between.
        if (!isEhdbError(error, "COMPACTED")) throw error;
      }
    }
  }

  /** The writers take the payloads in turn, and so must they come back. */
  #checkRecord({ sequence, data }: JournalRecord): void {
    const expected = payloads[(sequence - 1) % payloads.length] as Uint8Array;
    if (Buffer.compare(data, expected) !== 0) throw new Error(`record ${sequence} isn't what was appended`);
  }

  async #retain(): Promise<void> {
    while (!this.#ended) {
      await pause(Math.min(retentionMillis, this.#sampleMillis));
      const { segmentsRemoved } = await this.#journal.applyRetention();
      this.progressed.dropped += segmentsRemoved;
    }
  }

  async #sample(): Promise<void> {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    let before = { at: performance.now(), appended: 0 };
    while (!this.#ended) {
      await pause(this.#sampleMillis);
      const sample = takeSample(this.#journal.stats(), this.progressed, delay, before);
      this.samples.push(sample);
      before = { at: sample.at, appended: this.progressed.appended };
      delay.reset();
      this.#progress(Math.min(1, 1 - (this.#end - sample.at) / this.#millis));
    }
    delay.disable();
  }

  /** Growth is told from warming up by leaving the first quarter out. */
  #judge(): void {
    const settled = this.samples.slice(Math.ceil(this.samples.length / 4));
    if (settled.length < 4) return;
    const third = Math.ceil(settled.length / 3);
    const [early, late] = [settled.slice(0, third), settled.slice(-third)];
    const middle = (samples: readonly Sample[], of: (sample: Sample) => number): number => median(samples.map(of));
    const [heapBefore, heapAfter] = [middle(early, (each) => each.heapBytes), middle(late, (each) => each.heapBytes)];
    if (heapAfter > heapBefore * 1.5 + 32 * mib)
      this.#problems.push(`the heap grew from ${mibs(heapBefore)} to ${mibs(heapAfter)}`);
    const [memoryBefore, memoryAfter] = [
      middle(early, (each) => each.residentBytes),
      middle(late, (each) => each.residentBytes),
    ];
    if (memoryAfter > memoryBefore * 1.25 + 64 * mib)
      this.#problems.push(`memory grew from ${mibs(memoryBefore)} to ${mibs(memoryAfter)}`);
    const [rateBefore, rateAfter] = [middle(early, (each) => each.perSecond), middle(late, (each) => each.perSecond)];
    if (rateAfter < rateBefore / 2)
      this.#problems.push(`appends fell from ${Math.round(rateBefore)}/s to ${Math.round(rateAfter)}/s`);
    // Retention works on whole segments, and the newest and the one made ready come on top.
    const disk = percentile(
      settled.map(({ diskBytes }) => diskBytes),
      1,
    );
    const reached = this.progressed.appended * 400 > 2 * keptBytes;
    if (disk > keptBytes + 6 * segmentBytes)
      this.#problems.push(`the journal took ${mibs(disk)} on disk, retention is ${mibs(keptBytes)}`);
    if (reached && this.progressed.dropped === 0) this.#problems.push("retention never removed a segment");
  }

  get #ended(): boolean {
    return performance.now() >= this.#end || this.#problems.length > 0;
  }

  async #watched(work: Promise<void>, what: string): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#fail(what, error);
    }
  }

  #fail(what: string, error: unknown): void {
    if (this.#problems.length < 10)
      this.#problems.push(`${what} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function mibs(bytes: number): string {
  return `${(bytes / mib).toFixed(0)} MiB`;
}
