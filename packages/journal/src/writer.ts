import { EhdbError } from "@ehdb/contracts";
import type { Batch } from "./batch.ts";
import { EngineTime } from "./engine-time.ts";
import { encodeLowWater, flag, writeU64 } from "./format.ts";
import type { LowWater } from "./format.ts";
import { Intake } from "./intake.ts";
import type { MadeBatch } from "./intake.ts";
import type { ResolvedOptions } from "./options.ts";
import { isTouched } from "./owned.ts";
import { Pump } from "./pump.ts";
import type { Recovered } from "./recovery.ts";
import type { Segment } from "./segment.ts";
import type { SegmentWriter } from "./segment-writer.ts";
import { Space } from "./space.ts";

export interface WriterHooks {
  readonly started: (segment: Segment) => void;
  readonly advanced: () => void;
  readonly assertUntouched: (writers: readonly SegmentWriter[]) => Promise<void>;
  /** The disk failed after something may have been minted: this writer is done. */
  readonly poisoned: () => void;
}

/** One incarnation of the writing side, from a recovery to a close or a poisoning. */
export class Writer {
  readonly epoch: number;
  readonly intake: Intake;
  readonly pump: Pump;
  readonly space: Space;
  /** Why it stopped, when it did. */
  poison: EhdbError | undefined;
  /** Also what is on disk may not be found by the next open. */
  isLost = false;
  writeErrors = 0;
  readonly #options: ResolvedOptions;
  readonly #hooks: WriterHooks;

  constructor(options: ResolvedOptions, recovered: Recovered, current: SegmentWriter, hooks: WriterHooks) {
    const { epoch, last, lowWater } = recovered;
    this.#options = options;
    this.#hooks = hooks;
    this.epoch = epoch;
    const time = new EngineTime(options.host.clock, recovered.time);
    this.pump = new Pump(
      options,
      time,
      { current, last, epoch, lowWater },
      {
        started: (segment, before) => {
          this.space.retire(before);
          hooks.started(segment);
        },
        advanced: hooks.advanced,
        assertUntouched: hooks.assertUntouched,
        failed: (error, what) => this.#fail(error, what),
        lost: (error) => this.lost(error),
      },
    );
    this.space = new Space(options, options.segmentBytes, current, recovered.maxId + 1, {
      roomMade: () => this.intake.roomChanged(),
      failed: (error) => this.#fail(error, "making space"),
    });
    this.intake = new Intake(options, this.space, time, { last, epoch }, () => this.pump.schedule());
    this.pump.attach(this.intake);
  }

  /** The lock, or a file that is written, isn't where it was: what is written may never be found. */
  lost(error: unknown): void {
    this.isLost = true;
    this.#fail(error, "a look at the journal's files");
  }

  /** Writes the mark behind which everything below the low water is void, and waits until it is on disk. */
  async markLowWater(lowWater: LowWater): Promise<void> {
    const batch = await this.insert({ flags: flag.mark | flag.lowWater, body: encodeLowWater(lowWater), records: 0 });
    await batch.durable();
  }

  /** Starts the next segment, with a mark that repeats the low water. */
  async roll(lowWater: LowWater): Promise<void> {
    this.intake.endSegment();
    await this.markLowWater(lowWater);
  }

  /** States that the sequences from the next one to `sequence - 1` don't exist. */
  async skipTo(sequence: number): Promise<void> {
    await this.insert({ flags: flag.mark | flag.gap, body: sequenceBody(sequence), records: 0 });
    this.intake.skipTo(sequence);
  }

  /** Waits for room for a batch made elsewhere, and puts it in. */
  async insert(made: MadeBatch): Promise<Batch> {
    for (;;) {
      const batch = this.intake.insert(made);
      if (batch !== undefined) return batch;
      await this.intake.readyFor(made.body.length);
    }
  }

  /** Stops taking in and waits for what is in to be on disk, and for a last mark to say so. */
  async finish(closed: EhdbError): Promise<void> {
    this.intake.stop(closed);
    this.pump.wantSync(this.intake.appended);
    await this.pump.whenDurable(this.intake.appended);
    await this.pump.sayClean();
    if (this.poison !== undefined) throw this.poison;
  }

  /** Takes nothing more in, writes nothing more, and says so to whoever waits. */
  abandon(closed: EhdbError, outcomeUnknown: EhdbError): void {
    this.poison ??= closed;
    this.intake.stop(closed);
    this.intake.drop(outcomeUnknown);
    this.pump.stop(outcomeUnknown);
    this.space.stop();
  }

  /** Waits for all I/O in flight, gives back what wasn't used, and lets the files go. What fails here does no harm. */
  async dispose(trim: boolean): Promise<void> {
    await this.pump.quiet();
    const unused = await this.space.end();
    const { current } = this.pump;
    for (const writer of new Set([unused, this.space.filling])) {
      if (writer === undefined || writer === current) continue;
      await quietly(writer.file.close());
      await quietly(this.#options.host.files.remove(writer.path));
    }
    if (trim && this.poison === undefined) await quietly(current.file.truncate(current.position));
    await quietly(current.file.close());
  }

  #fail(cause: unknown, what: string): void {
    if (this.poison !== undefined) return;
    this.writeErrors++;
    this.isLost ||= isTouched(cause);
    const { durable } = this.pump;
    const { appended } = this.intake;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const data = { durable, appended };
    this.poison = new EhdbError(
      "POISONED",
      `${what} failed (${reason}): the journal takes no more appends, and reads go on up to ${durable}. Call reopen()`,
      data,
      cause,
    );
    const outcomeUnknown = new EhdbError(
      "OUTCOME_UNKNOWN",
      `${what} failed (${reason}) while sequences ${durable + 1} to ${appended} were on their way to disk: they may be there or not. Call reopen(), then look`,
      data,
      cause,
    );
    this.abandon(this.poison, outcomeUnknown);
    this.#hooks.poisoned();
  }
}

function sequenceBody(sequence: number): Buffer {
  const body = Buffer.alloc(8);
  writeU64(body, 0, sequence);
  return body;
}

/** For what the next recovery does again if it failed: it only tidies. */
async function quietly(work: Promise<void>): Promise<void> {
  await work.catch(() => undefined);
}
