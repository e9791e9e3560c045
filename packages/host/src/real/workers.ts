import { availableParallelism } from "node:os";
import type { Job, Workers } from "../host.ts";
import { RealFiles } from "./files.ts";
import { InlineJobs } from "./inline-jobs.ts";
import { Thread } from "./thread.ts";

/** Background work has a queue of its own; more threads would only take the processor from whoever serves. */
const LARGEST_POOL = 2;

const entry: URL = new URL("./worker-thread.js", import.meta.url);

/** A small pool of worker threads, started when a job finds none idle. */
export class RealWorkers implements Workers {
  readonly inThreads: boolean = !isTypeScript(import.meta.url);
  readonly #poolSize: number = Math.min(LARGEST_POOL, availableParallelism());
  readonly #threads: Set<Thread> = new Set();
  readonly #inline: InlineJobs = new InlineJobs(new RealFiles());

  run<Input, Output>(job: Job<Input, Output>, input: Input): Promise<Output> {
    if (!this.inThreads || isTypeScript(job.module)) return this.#inline.run(job, input);
    return this.#thread().run(job, input) as Promise<Output>;
  }

  async close(): Promise<void> {
    this.#inline.close();
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  /** An idle one, or a new one while there may be more, or the one with the fewest jobs. */
  #thread(): Thread {
    const [least] = [...this.#threads].sort((one, other) => one.jobs - other.jobs);
    if (least !== undefined && (least.jobs === 0 || this.#threads.size >= this.#poolSize)) return least;
    const started: Thread = new Thread(entry, () => this.#threads.delete(started));
    this.#threads.add(started);
    return started;
  }
}

/**
 * Whether this runs from sources, through a loader of the main thread (a test runner, tsx). Node 20's worker threads
 * have no such loader and can't import TypeScript, so these jobs run inline.
 */
function isTypeScript(url: string): boolean {
  return new URL(url).pathname.endsWith(".ts");
}
