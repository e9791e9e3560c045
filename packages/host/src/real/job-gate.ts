import { EhdbError } from "@ehdb/contracts";

/**
 * How a job in another thread is held back, or given up: two numbers in shared memory, how many go before it, and whether it's
 * still wanted. A job that takes one passes it again and again.
 */
export type JobGate = Int32Array;

const before = 0;
const unwanted = 1;

export function jobGate(): JobGate {
  return new Int32Array(new SharedArrayBuffer(8));
}

/** Whoever goes first says so, and says when it's done. Only for jobs that run in threads (`Workers.inThreads`). */
export function goBefore(gate: JobGate): () => void {
  Atomics.add(gate, before, 1);
  return () => {
    Atomics.sub(gate, before, 1);
    Atomics.notify(gate, before);
  };
}

export function giveUp(gate: JobGate): void {
  Atomics.store(gate, unwanted, 1);
  Atomics.notify(gate, before);
}

/** Waits until nobody goes before. ABORTED when it was given up. */
export async function passGate(gate: JobGate): Promise<void> {
  for (;;) {
    if (Atomics.load(gate, unwanted) !== 0) throw new EhdbError("ABORTED", "the job was given up", {});
    const count = Atomics.load(gate, before);
    if (count === 0) return;
    await Atomics.waitAsync(gate, before, count).value;
  }
}
