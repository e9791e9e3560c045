import { EhdbError } from "@ehdb/contracts";
import type { Files, Job, Workers } from "../host.ts";
import type { Operation } from "./operation.ts";
import type { Process } from "./process.ts";

/**
 * Runs jobs inline. A pure one is one operation; one that uses files is as many as its files make, and others take place between them.
 * Input and output are cloned, as between threads.
 */
export class SimulatedWorkers implements Workers {
  readonly inThreads = false;
  readonly #process: Process;
  readonly #files: Files;
  /** How often the workers were closed: a job of an earlier time is refused. */
  #closed = 0;

  constructor(process: Process, files: Files) {
    this.#process = process;
    this.#files = files;
  }

  run<Input, Output>(job: Job<Input, Output>, input: Input): Promise<Output> {
    const sent = structuredClone(input);
    const sentAt = this.#closed;
    const begin = async (): Promise<Output> => {
      if (sentAt === this.#closed) {
        const output = await job.run(sent, this.#files);
        if (sentAt === this.#closed) return structuredClone(output);
      }
      throw new EhdbError("CLOSED", `the workers were closed before job ${job.name} ended`, { job: job.name });
    };
    if (job.usesFiles === true) return this.#process.perform("job", job.name, startJob).then(begin);
    return this.#process.compute(job.name, begin);
  }

  close(): Promise<void> {
    this.#closed++;
    return this.#process.frozen ? new Promise(() => {}) : Promise.resolve();
  }
}

function startJob(operation: Operation): void {
  operation.throwFault();
}
