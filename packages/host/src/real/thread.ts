import { EhdbError } from "@ehdb/contracts";
import { Worker } from "node:worker_threads";
import type { Job } from "../host.ts";
import { errorOf, type JobReply, type JobRequest } from "./worker-messages.ts";

interface Waiting {
  readonly job: string;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One worker thread and the jobs that it was given, which it takes up in their order. */
export class Thread {
  readonly #worker: Worker;
  readonly #waiting: Map<number, Waiting> = new Map();
  readonly #onEnd: () => void;
  #nextId = 0;
  #lastError: unknown;

  /** `onEnd` is called once it takes no more jobs. */
  constructor(entry: URL, onEnd: () => void) {
    this.#onEnd = onEnd;
    // Without the flags of the process: its loaders, conditions and `--input-type` are for the main program, and a
    // thread that took them over would look for sources that it can't run.
    this.#worker = new Worker(entry, { name: "ehdb", execArgv: [] });
    this.#worker.unref();
    this.#worker.on("message", (reply: JobReply) => this.#settle(reply));
    this.#worker.on("error", (error) => (this.#lastError = error));
    this.#worker.on("messageerror", (error) => {
      this.#lastError = error;
      void this.#worker.terminate();
    });
    this.#worker.on("exit", (exitCode) => this.#ended(exitCode));
  }

  get jobs(): number {
    return this.#waiting.size;
  }

  /** The input is copied before this returns. */
  run(job: Job<never, unknown>, input: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const request: JobRequest = { id, module: job.module, name: job.name, input };
      // Throws for an input that can't be cloned, and so rejects. Nothing is handed over: the input stays its owner's.
      this.#worker.postMessage(request, []);
      this.#waiting.set(id, { job: job.name, resolve, reject });
      this.#worker.ref();
    });
  }

  async terminate(): Promise<void> {
    this.#rejectAll((job) => new EhdbError("CLOSED", `the workers were closed before job ${job} ended`, { job }));
    this.#onEnd();
    await this.#worker.terminate();
  }

  #settle(reply: JobReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    // An idle thread doesn't keep the process.
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("failure" in reply) waiting?.reject(errorOf(reply.failure));
    else waiting?.resolve(reply.output);
  }

  #ended(exitCode: number): void {
    this.#onEnd();
    this.#rejectAll((job) => workerFailed(job, exitCode, this.#lastError));
  }

  #rejectAll(errorFor: (job: string) => EhdbError): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { job, reject } of all) reject(errorFor(job));
  }
}

/** It says nothing of the job's input: the same job may be given to another thread. */
function workerFailed(job: string, exitCode: number, cause: unknown): EhdbError {
  const { code, message: reason = "nothing said why" } = Object(cause) as { code?: string; message?: string };
  const isMissing = code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND";
  const remedy = isMissing
    ? "A bundler has left its file out: keep the @ehdb packages external"
    : "See to the memory and the threads that the process may have";
  const message = `the worker thread for ${job} ended with exit code ${exitCode} (${reason}). ${remedy}; it's tried again with the next job`;
  return new EhdbError("WORKER_FAILED", message, { job, exitCode }, cause);
}
