// The owner's side of a member in a process of its own.
import { broken } from "@ehdb/harness";
import type { Answer, Request } from "./member-process.ts";
import { groupNames } from "./records.ts";
import type { GroupName, Job } from "./records.ts";
import { isTaken, say } from "./work.ts";
import type { Work } from "./work.ts";

const remote = "remote";
const heir = "heir";
const patienceMillis = 5000;

/** Serves the member that started this process, and, when it's gone, sees what becomes of what it held. */
export class MemberDesk {
  readonly #work: Work;
  readonly #held: Record<GroupName, Map<number, Job>> = { plain: new Map(), ordered: new Map() };
  /** Requests, one after the other. */
  #line: Promise<void> = Promise.resolve();

  constructor(work: Work) {
    this.#work = work;
  }

  /** Resolves when the member is gone, and what it had asked for is done. */
  async serve(): Promise<void> {
    process.on("message", (message) => {
      this.#line = this.#line.then(() => this.#answer(message as Request));
    });
    if (process.connected) await new Promise<void>((resolve) => void process.once("disconnect", resolve));
    await this.#line;
  }

  /** For half of the dead somebody says at once that they have left; the leases of the others must end. */
  async bury(): Promise<void> {
    const { groups, random } = this.#work;
    if (random.integer(2) === 0) for (const name of groupNames) await groups[name].leave(remote);
  }

  /** What it held goes to others, and it can't acknowledge any more. */
  async inherit(): Promise<void> {
    for (const name of groupNames) await this.#inherit(name, this.#held[name]);
  }

  /** The planted defect: nobody has done these jobs. */
  async acknowledgeAll(): Promise<void> {
    for (const name of groupNames) for (const job of this.#held[name].values()) await job.ack().catch(() => undefined);
  }

  async #inherit(name: GroupName, held: ReadonlyMap<number, Job>): Promise<void> {
    const group = this.#work.groups[name];
    const missing = new Set(held.keys());
    for (const since = Date.now(); missing.size > 0 && Date.now() - since < patienceMillis;) {
      const jobs = await this.#work.fetch(name, heir, 65_536);
      // Those behind them, in order of keys, come when these are done.
      if (name === "ordered") await this.#work.finish(name, jobs, heir);
      const parked = await group.parked({ limit: 65_536 });
      for (const { sequence } of [...jobs, ...parked]) missing.delete(sequence);
      for (const sequence of missing) if (this.#work.hasSettled(sequence)) missing.delete(sequence);
    }
    for (const sequence of missing) say(broken(`nobody got job ${sequence} after its member's death`));
    for (const [sequence, job] of held)
      if (await isTaken(job.ack())) say(broken(`job ${sequence} was acknowledged for a member that was dead`));
    await group.leave(heir);
  }

  async #answer(request: Request): Promise<void> {
    const held = this.#held[request.group];
    if (request.asks === "fetch") {
      const jobs = await this.#work.fetch(request.group, remote, request.limit);
      for (const job of jobs) held.set(job.sequence, job);
      send(jobs.map(({ sequence }) => sequence));
      return;
    }
    const jobs = request.sequences.flatMap((sequence) => held.get(sequence) ?? []);
    if (request.group === "plain") await this.#work.acknowledgeEach(jobs);
    else for (const job of jobs) await this.#work.finish("ordered", [job], remote);
    const settled = request.sequences.filter((sequence) => this.#work.hasSettled(sequence));
    for (const sequence of settled) held.delete(sequence);
    send(settled);
  }
}

/** A member that is gone hears nothing. */
function send(answer: Answer): void {
  if (process.connected) process.send?.(answer, () => undefined);
}
