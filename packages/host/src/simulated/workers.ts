import { EhdbError } from "@ehdb/contracts";
import type { Job, Workers } from "../host.ts";
import type { Process } from "./process.ts";

/** Runs jobs inline, each as one operation. Input and output are cloned, as between threads. */
export class SimulatedWorkers implements Workers {
  readonly #process: Process;
  /** How often the workers were closed: a job of an earlier time is refused. */
  #closed = 0;

  constructor(process: Process) {
    this.#process = process;
  }

  run<Input, Output>(job: Job<Input, Output>, input: Input): Promise<Output> {
    const sent = structuredClone(input);
    const sentAt = this.#closed;
    return this.#process.compute(job.name, async () => {
      if (sentAt === this.#closed) {
        const output = await job.run(sent);
        if (sentAt === this.#closed) return structuredClone(output);
      }
      throw new EhdbError("CLOSED", `the workers were closed before job ${job.name} ended`, { job: job.name });
    });
  }

  close(): Promise<void> {
    this.#closed++;
    return this.#process.frozen ? new Promise(() => {}) : Promise.resolve();
  }
}
