// What a worker thread runs: it imports a job's module, runs the job and replies.
import { EhdbError } from "@ehdb/contracts";
import { setPriority } from "node:os";
import { parentPort, type Transferable } from "node:worker_threads";
import type { Job } from "../host.ts";
import { RealFiles } from "./files.ts";
import { failureOf, type JobReply, type JobRequest } from "./worker-messages.ts";

/** Behind whoever serves: with as many threads as processors a slice of background work delays a timer by milliseconds. */
const niceness = 10;

const port = parentPort;
const files = new RealFiles();
if (port === null) throw new EhdbError("INVALID_ARGUMENT", "worker-thread.js runs in a worker thread only");

function isJob(value: unknown): value is Job<unknown, unknown> {
  return typeof value === "object" && value !== null && "run" in value && typeof value.run === "function";
}

async function outputOf({ module, name, input }: JobRequest): Promise<unknown> {
  const exported: unknown = await import(module);
  const job: unknown = (exported as Readonly<Record<string, unknown>>)[name];
  if (!isJob(job)) {
    throw new EhdbError("INVALID_ARGUMENT", `${module} exports no job ${name}: export it under its own name`, {
      module,
      name,
    });
  }
  return job.run(input, files);
}

/**
 * Bytes are handed over without a copy, unless they are a small piece of a buffer: Node's pool, which others use (its
 * pieces are always less than half of it), or one that would drag along more than it holds. A pure job keeps no hold
 * on what it returned.
 */
function handedOver(output: unknown): Transferable[] {
  if (!(output instanceof Uint8Array) || !(output.buffer instanceof ArrayBuffer)) return [];
  return output.byteLength >= output.buffer.byteLength / 2 ? [output.buffer] : [];
}

async function reply(request: JobRequest): Promise<void> {
  const { id } = request;
  try {
    const output = await outputOf(request);
    port?.postMessage({ id, output } satisfies JobReply, handedOver(output));
  } catch (error) {
    port?.postMessage({ id, failure: failureOf(error) } satisfies JobReply);
  }
}

// On Linux this is the calling thread's alone, elsewhere it would be the process's.
if (process.platform === "linux") setPriority(niceness);
port.on("message", (request: JobRequest) => void reply(request));
