import type { LogCheckpoint, RecordedEvent, Subscription } from "@ehdb/contracts";
import { codeOf, mayHappen, showsLess, takes } from "./context.ts";
import type { Work } from "./context.ts";
import { differs } from "./differences.ts";
import { seen, wants } from "./events.ts";
import type { Wanted } from "./events.ts";
import type { Follower, Manner } from "./follower.ts";
import { isHidden } from "./hidden.ts";
import { beginning } from "./moment.ts";
import type { Moment } from "./moment.ts";

/** Follows from where it was, now and then anew, until nobody writes any more and all was delivered. */
export async function follow(work: Work, follower: Follower): Promise<void> {
  const { run, stage } = work;
  for (;;) {
    const most = run.random.chance(0.5) ? run.random.between(1, 30) : Infinity;
    await subscribe(work, follower, work.isQuiet ? Infinity : most);
    if (work.isQuiet || work.closing || !takes(work)) return;
    await stage.pause(run.random.pick([1, 20, 100]));
  }
}

async function subscribe(work: Work, follower: Follower, most: number): Promise<void> {
  const { run, log } = work;
  const { counts } = run;
  const { place, filter } = follower;
  counts.subscriptions++;
  if (place !== undefined) counts.subscriptionsResumed++;
  if (place !== undefined && follower.life !== counts.opens) counts.resumedInNextLife++;
  const stop = new AbortController();
  const delivery = new Delivery(work, filter, follower.name, place, () => stop.abort());
  const subscription = log.subscribe({
    ...filter,
    ...(place === undefined ? {} : { after: place }),
    signal: stop.signal,
    onCaughtUp: (checkpoint) => delivery.caughtUp(checkpoint),
  });
  const error = await delivery.take(subscription, follower, most);
  const { checkpoint } = subscription;
  const code = codeOf(error);
  follower.life = counts.opens;
  if (delivery.hasBegun) follower.place = checkpoint;
  const reached = follower.place ?? { position: 0, epoch: log.epoch };
  if (code === "TRUNCATED") {
    counts.subscriptionsTruncated++;
    run.ledger.afterOpening(log.epoch, () => {
      if (!run.ledger.isCut(reached))
        run.ledger.fail(
          `${follower.name} after ${JSON.stringify(reached)} was said to be truncated, and nothing was taken back`,
        );
    });
    // From an earlier place: what was delivered from there on is made anew.
    follower.place = undefined;
  } else if (code === "COMPACTED") {
    counts.subscriptionsCompacted++;
    if (reached.position + 1 >= log.firstPosition)
      run.ledger.fail(`${follower.name} after ${reached.position} is compacted, and ${log.firstPosition} is the first`);
    follower.place = undefined;
  } else if (code === "OUT_OF_RANGE" && mayShowLess(work) && reached.position > log.position)
    counts.subscriptionsBeyond++;
  else if (code === "CLOSED" && work.closing) counts.subscriptionsClosed++;
  else if (error !== undefined && code !== "ABORTED" && !(code === "IO_ERROR" && mayHappen(run, code))) throw error;
}

/** A log that is being closed doesn't say any more that its disk has failed. */
function mayShowLess(work: Work): boolean {
  return showsLess(work) || (work.closing && !work.run.showsDurable);
}

/** What one subscription delivers, held to the ledger event by event: nothing twice, no gap, nothing that was hidden before. */
export class Delivery {
  hasBegun = false;
  readonly #work: Work;
  readonly #wanted: Wanted;
  readonly #name: string;
  readonly #began: Moment;
  #startedAfter: LogCheckpoint | undefined;
  readonly #isTail: boolean;
  #beginsAnywhere = false;
  readonly #stop: () => void;
  #through: LogCheckpoint | undefined;
  #caughtUpAt = -1;

  /** `after`: what was delivered before; undefined: from the first event there is. A tail's place is the log's to know. */
  constructor(
    work: Work,
    wanted: Wanted,
    name: string,
    after: LogCheckpoint | undefined,
    stop: () => void,
    isTail = false,
  ) {
    this.#isTail = isTail;
    this.#work = work;
    this.#wanted = wanted;
    this.#name = name;
    this.#began = beginning(work);
    this.#startedAfter = after;
    this.#through = after;
    this.#stop = stop;
  }

  /** Up to so many events; the error with which it ended, if it did. */
  async take(subscription: Subscription, { takesBatches, slowness }: Manner, most: number): Promise<Error | undefined> {
    const { run, stage, whenQuiet } = this.#work;
    const iterator = takesBatches
      ? subscription.batches()[Symbol.asyncIterator]()
      : subscription[Symbol.asyncIterator]();
    const quiet = (): void => this.#endWhenDone();
    whenQuiet.add(quiet);
    quiet();
    try {
      for (let count = 0; count < most;) {
        if (slowness > 0 && run.random.chance(0.3)) await stage.pause(slowness);
        const before = this.#caughtUpAt >= 0;
        const next = async (): Promise<IteratorResult<RecordedEvent | readonly RecordedEvent[], void>> =>
          await iterator.next();
        const { done, value } = await stage.step(`an event for ${this.#name}`, next);
        if (done === true) return undefined;
        const events = (Array.isArray(value) ? value : [value]) as readonly RecordedEvent[];
        if (events.length === 0) run.ledger.fail(`${this.#name} got an empty batch`);
        count += events.length;
        run.counts.delivered += events.length;
        if (before) run.counts.followedLive++;
        for (const [place, event] of events.entries())
          this.#deliver(event, subscription.checkpoint, place === events.length - 1);
      }
      await stage.step(`${this.#name} leaves`, async () => await iterator.return?.());
      return undefined;
    } catch (error) {
      return error as Error;
    } finally {
      whenQuiet.delete(quiet);
      if (this.hasBegun) this.#covers(subscription.checkpoint.position, subscription.checkpoint.epoch, undefined);
    }
  }

  caughtUp(checkpoint: LogCheckpoint): void {
    this.#work.run.counts.caughtUp++;
    this.#caughtUpAt = checkpoint.position;
    this.#covers(checkpoint.position, checkpoint.epoch, undefined);
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    const { isQuiet, log } = this.#work;
    if (isQuiet && (log.engine.state !== "open" || this.#caughtUpAt >= log.position)) this.#stop();
  }

  #deliver(event: RecordedEvent, { position, epoch }: LogCheckpoint, isLast: boolean): void {
    const { ledger } = this.#work.run;
    this.#forgetPlace();
    if (event.position <= (this.#through?.position ?? 0))
      ledger.fail(`${this.#name} got position ${event.position} after all up to ${this.#through?.position}`);
    if (isLast && position < event.position)
      ledger.fail(`${this.#name} got position ${event.position}, and its checkpoint says ${position}`);
    this.#covers(event.position, epoch, event);
  }

  /**
   * What a consumer acknowledged and the disk had not is out of sight once the disk has failed: a tail that begins then begins where it
   * was, or earlier, and what it gives first says where.
   */
  #forgetPlace(): void {
    if (this.hasBegun || !this.#isTail || !showsLess(this.#work)) return;
    this.#beginsAnywhere = true;
    this.#startedAfter = undefined;
    this.#through = undefined;
  }

  /** Everything up to a position was delivered or left out. */
  #covers(position: number, epoch: number, event: RecordedEvent | undefined): void {
    this.#forgetPlace();
    const { run, log } = this.#work;
    const { ledger } = run;
    const began = this.#began.hidden;
    const start = this.#startedAfter;
    if (!this.hasBegun && start !== undefined && start.position + 1 < began.firstPosition)
      ledger.fail(`${this.#name} went on after ${start.position}, and all before ${began.firstPosition} was reclaimed`);
    this.hasBegun = true;
    const before = this.#through;
    const first = this.#beginsAnywhere ? (event === undefined ? position + 1 : position) : began.firstPosition;
    const after = before?.position ?? first - 1;
    this.#through = { position: Math.max(after, position), epoch };
    // What was read before a crash took it back is still delivered: it's followed by TRUNCATED.
    if (ledger.isCut({ position, epoch }) || run.host.frozen) return;
    if (before !== undefined && ledger.isCut(before))
      ledger.fail(`${this.#name} went on after ${JSON.stringify(before)}, which a crash took back`);
    const one = event === undefined ? undefined : seen(event);
    // Once it has a place, a reclaim that takes what comes next ends it.
    const now = { firstVersions: ledger.perhapsHidden, firstPosition: before === undefined ? log.firstPosition : 1 };
    if (this.#began.isFirm && run.showsDurable) ledger.acknowledge(position);
    ledger.whenKnown(position, (model) => {
      for (const must of model.events.slice(after, position)) {
        const what = `${must.position} ${must.stream}@${must.version}`;
        if (must.position === one?.position) {
          const wrong = !wants(this.#wanted, must)
            ? `${what}, which isn't wanted`
            : isHidden(began, must)
              ? `${what}, which was hidden before`
              : differs(one, must);
          if (wrong !== undefined) ledger.fail(`${this.#name} got ${wrong}`);
        } else if (wants(this.#wanted, must) && !isHidden(now, must)) ledger.fail(`${this.#name} wasn't given ${what}`);
      }
    });
  }
}
