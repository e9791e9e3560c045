import type { FeedMessage, RecordedEvent } from "@ehdb/contracts";
import type { Settings } from "./settings.ts";

export type Job = FeedMessage<RecordedEvent>;

/** A delivery that nothing has ended, as far as one knows. */
interface Held {
  readonly member: string;
  readonly job: Job;
  until: number;
  /** Something was called that may end it. */
  mayHaveEnded: boolean;
}

/** What a group was asked and what it answered, over all incarnations; and so, what it must do. */
export class Ledger {
  readonly violations: string[] = [];
  readonly #settings: Settings;
  /** Keys of the events that the group wants, by sequence. */
  readonly wanted: Map<number, string> = new Map();
  /** What lies from here on must be delivered. */
  from = 1;
  /** Raised by each seek. */
  generation = 1;
  /** Since the last seek: what may be done with, and what is. */
  readonly asked: Set<number> = new Set();
  readonly firm: Set<number> = new Set();
  /** What may be in the parking lot. */
  readonly parked: Set<number> = new Set();
  readonly replayed: Map<string, number> = new Map();
  readonly held: Map<number, Held> = new Map();
  /** Deliveries by message, in this incarnation. */
  readonly #deliveries: Map<number, number> = new Map();
  /** Deliveries that are over. */
  readonly ended: Job[] = [];
  committed = 0;
  /** Whether the group was moved to `from` isn't known. */
  #mayBeElsewhere = false;
  hasSought = false;
  hasLeft = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  fail(what: string): void {
    if (this.violations.length < 5) this.violations.push(what);
  }

  appended(sequence: number, type: string, key: string): void {
    const [area] = type.split(".");
    if (this.#settings.group.subjects.some((pattern) => pattern.startsWith(`${area}.`))) this.wanted.set(sequence, key);
  }

  /** A member got these in one fetch. */
  fetched(member: string, jobs: readonly Job[], now: number, first: number): void {
    let before = 0;
    for (const job of jobs) {
      if (job.sequence <= before && !this.hasSought) this.fail(`${job.sequence} was fetched behind ${before}`);
      before = job.sequence;
      this.#delivered(member, job, now, first);
    }
  }

  #delivered(member: string, job: Job, now: number, first: number): void {
    const { sequence, deliveries, record } = job;
    this.appended(sequence, record.type, record.stream);
    if (!this.wanted.has(sequence)) this.fail(`${sequence} of type ${record.type} isn't wanted, and was delivered`);
    if (this.firm.has(sequence)) this.fail(`${sequence} was acknowledged, and ${member} got it again`);
    const held = this.held.get(sequence);
    if (held !== undefined && !held.mayHaveEnded && now < held.until)
      this.fail(`${member} got ${sequence}, which ${held.member} had until ${held.until - now} ms later`);
    if (held !== undefined && !this.asked.has(sequence)) this.ended.push(held.job);
    const known = this.#deliveries.get(sequence);
    // What was replayed may have been lent before, by a fetch that took its time.
    const isAnew = deliveries === 1 && this.replayed.has(`${this.generation}/${sequence}`);
    if (known !== undefined && deliveries !== known + 1 && !isAnew)
      this.fail(`${sequence} was delivered for the ${deliveries}th time, after the ${known}th`);
    const { maxDeliver, order } = this.#settings.group;
    if (deliveries > maxDeliver && !this.hasLeft)
      this.fail(`${sequence} was delivered ${deliveries} times, and ${maxDeliver} are allowed`);
    if (order === "key") this.#inOrder(job, now, first);
    this.#deliveries.set(sequence, deliveries);
    this.held.set(sequence, { member, job, until: job.leasedUntil, mayHaveEnded: false });
  }

  /** One of a key at a time, the earliest first. */
  #inOrder({ sequence, key }: Job, now: number, first: number): void {
    for (const [other, held] of this.held) {
      if (other !== sequence && held.job.key === key && !held.mayHaveEnded && now < held.until)
        this.fail(`${sequence} was delivered while ${other} of the same key was out`);
    }
    // One that was parked comes when it's replayed, although the group may not have come to earlier ones again.
    if (this.#settings.group.maxDeliver !== Infinity || this.parked.has(sequence)) return;
    for (const [other, otherKey] of this.wanted) {
      const mayGo = this.asked.has(other) || this.parked.has(other);
      if (otherKey === key && other < sequence && other >= Math.max(this.from, first) && !mayGo)
        this.fail(`${sequence} was delivered before ${other} of the same key was done`);
    }
  }

  /** A call of this delivery was made. True when nothing can have ended it, so that it must be taken. */
  mayEnd({ sequence }: Job, now: number): boolean {
    const held = this.held.get(sequence);
    if (held === undefined) return false;
    const isSure = !held.mayHaveEnded && now < held.until;
    held.mayHaveEnded = true;
    return isSure;
  }

  isNewest(job: Job): boolean {
    return this.held.get(job.sequence)?.job === job;
  }

  extended(job: Job, until: number): void {
    const held = this.held.get(job.sequence);
    if (held?.job !== job) return;
    held.until = until;
    held.mayHaveEnded = false;
  }

  acknowledged(sequence: number, generation: number): void {
    if (generation === this.generation) this.firm.add(sequence);
    this.held.delete(sequence);
  }

  left(member: string): void {
    this.hasLeft = true;
    for (const held of this.held.values()) if (held.member === member) held.mayHaveEnded = true;
  }

  allMayHaveEnded(): void {
    for (const held of this.held.values()) held.mayHaveEnded = true;
  }

  replaying(sequences: readonly number[]): void {
    for (const sequence of sequences) {
      const id = `${this.generation}/${sequence}`;
      this.replayed.set(id, (this.replayed.get(id) ?? 0) + 1);
      this.#deliveries.delete(sequence);
    }
  }

  seeking(): void {
    this.hasSought = true;
    this.generation++;
    this.firm.clear();
    this.#deliveries.clear();
    this.committed = 0;
    this.allMayHaveEnded();
  }

  sought(to: number): void {
    this.from = to;
    this.#mayBeElsewhere = false;
    for (const { job } of this.held.values()) if (!this.asked.has(job.sequence)) this.ended.push(job);
    this.asked.clear();
    this.held.clear();
  }

  /** It may be there, or where it was. */
  mayHaveSought(to: number): void {
    this.from = Math.max(this.from, to);
    this.#mayBeElsewhere = true;
  }

  /** The process is gone, and with it all who had something. */
  crashed(): void {
    this.held.clear();
    this.ended.length = 0;
    this.#deliveries.clear();
    this.committed = 0;
  }

  /** Up to where everything that is wanted was acknowledged for sure. */
  get firmlyCommitted(): number {
    if (this.#mayBeElsewhere) return 0;
    let committed = this.from - 1;
    for (const sequence of [...this.wanted.keys()].sort((a, b) => a - b)) {
      if (sequence < this.from) continue;
      if (!this.firm.has(sequence)) break;
      committed = sequence;
    }
    return committed;
  }
}
