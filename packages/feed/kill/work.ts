import { isEhdbError } from "@ehdb/contracts";
import type { NewEvent } from "@ehdb/contracts";
import { acknowledged, broken, killLine, SeededRandom, settled, settling } from "@ehdb/harness";
import type { KillLine } from "@ehdb/harness";
import { outcomeType } from "./records.ts";
import type { GroupName, Job, Outcome } from "./records.ts";
import type { Group, KillStore } from "./store.ts";

/** A pipe to the parent takes a line before the call returns, so that what was said survives the kill. */
export function say(line: KillLine): void {
  process.stdout.write(killLine(line));
}

export interface WorkOptions {
  readonly store: KillStore;
  readonly groups: Readonly<Record<GroupName, Group>>;
  readonly incarnation: number;
  readonly seed: number;
  readonly defect: string | undefined;
}

/** What one incarnation does to jobs: it says what it settles, and watches what it gets. */
export class Work {
  readonly store: KillStore;
  readonly groups: Readonly<Record<GroupName, Group>>;
  readonly incarnation: number;
  readonly random: SeededRandom;
  readonly defect: string | undefined;
  /** From then on nobody begins anything. */
  isOver = false;
  readonly #settled = new Set<number>();
  readonly #deliveries = new Map<number, number>();
  readonly #outcomes = new Map<string, number>();

  constructor({ store, groups, incarnation, seed, defect }: WorkOptions) {
    this.store = store;
    this.groups = groups;
    this.incarnation = incarnation;
    this.random = new SeededRandom(seed);
    this.defect = defect;
  }

  get settledCount(): number {
    return this.#settled.size;
  }

  hasSettled(sequence: number): boolean {
    return this.#settled.has(sequence);
  }

  /** Jobs for a member, which must not have been settled before, and are counted on. */
  async fetch(group: GroupName, member: string, limit: number): Promise<readonly Job[]> {
    const jobs = await this.groups[group].fetch({ member, limit, waitSeconds: 0.02 });
    for (const { sequence, deliveries } of jobs) {
      if (this.#settled.has(sequence)) say(broken(`job ${sequence} was settled, and ${member} got it again`));
      const before = this.#deliveries.get(sequence) ?? 0;
      if (deliveries <= before) say(broken(`job ${sequence} had ${before} deliveries, and then ${deliveries}`));
      this.#deliveries.set(sequence, deliveries);
    }
    return jobs;
  }

  /** Each by itself, all at once. */
  async acknowledgeEach(jobs: readonly Job[]): Promise<void> {
    await Promise.all(jobs.map((job) => this.settle([job], () => job.ack())));
  }

  async acknowledge(group: GroupName, jobs: readonly Job[]): Promise<void> {
    await this.settle(jobs, () => this.groups[group].ack(jobs));
  }

  /** Acknowledges, and states an outcome of each in the same commit. */
  async finish(group: GroupName, jobs: readonly Job[], member: string): Promise<void> {
    const writer = `${this.incarnation}.o-${member}`;
    let first = 0;
    await this.settle(jobs, async () => {
      const { appended } = await this.groups[group].commit(jobs, (batch) => {
        first = (this.#outcomes.get(writer) ?? 0) + 1;
        this.#outcomes.set(writer, first + jobs.length - 1);
        const events = jobs.map((job, index) => outcomeOf(job, `${writer}:${first + index}`));
        this.store.log.stageAppend(batch, writer, events);
      });
      for (const [index, { sort }] of appended.entries()) say(acknowledged(`${writer}:${first + index}`, sort));
    });
  }

  /** The planted defect: outcomes by themselves, and then the acknowledgements. */
  async finishInTwoSteps(jobs: readonly Job[], member: string): Promise<void> {
    const writer = `${this.incarnation}.t-${member}`;
    const first = (this.#outcomes.get(writer) ?? 0) + 1;
    this.#outcomes.set(writer, first + jobs.length - 1);
    const events = jobs.map((job, index) => outcomeOf(job, `${writer}:${first + index}`));
    await this.store.log.append(writer, events);
    // So long that a kill meets it.
    await pause(50);
    await this.acknowledgeEach(jobs);
  }

  /** Says before what may be done with from now on, and after what is. A lease that is lost settles nothing. */
  async settle(jobs: readonly Pick<Job, "sequence">[], how: () => Promise<unknown>): Promise<void> {
    for (const { sequence } of jobs) say(settling(sequence));
    if (!(await isTaken(how()))) return;
    for (const { sequence } of jobs) {
      this.#settled.add(sequence);
      say(settled(sequence));
    }
  }

  /** They are delivered as if they never had been. */
  async replay(sequences: readonly number[]): Promise<void> {
    for (const sequence of sequences) this.#deliveries.delete(sequence);
    await this.groups.plain.replay(sequences);
  }
}

function outcomeOf({ sequence, key }: Job, id: string): NewEvent {
  const data: Outcome = { job: sequence, key };
  return { type: outcomeType, id, data };
}

/** False when the lease was lost meanwhile, which is nobody's fault. */
export async function isTaken(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (!isEhdbError(error, "LEASE_LOST")) throw error;
    return false;
  }
}

export const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));
