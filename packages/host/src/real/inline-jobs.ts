import { EhdbError } from "@ehdb/contracts";
import type { Files, Job } from "../host.ts";

/** Runs jobs in this thread, each in a turn of its own. Input and output are cloned, as between threads. */
export class InlineJobs {
  readonly #closers: Set<() => void> = new Set();
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
  }

  run<Input, Output>(job: Job<Input, Output>, input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      const sent = structuredClone(input);
      const close = (): void =>
        reject(new EhdbError("CLOSED", `the workers were closed before job ${job.name} ended`, { job: job.name }));
      this.#closers.add(close);
      setImmediate(() => {
        if (!this.#closers.has(close)) return;
        void Promise.resolve(sent)
          .then((input) => job.run(input, this.#files))
          .then((output) => structuredClone(output))
          .then(resolve, reject)
          .finally(() => this.#closers.delete(close));
      });
    });
  }

  close(): void {
    for (const close of this.#closers) close();
    this.#closers.clear();
  }
}
