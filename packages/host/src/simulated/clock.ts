import type { Clock, Timer } from "../host.ts";
import type { Process } from "./process.ts";

interface PendingTimer {
  readonly due: number;
  readonly call: () => void;
}

/** A clock that stands still until it's told to move. Its timers belong to one process. */
export class SimulatedClock implements Clock {
  readonly #process: Process;
  /** In the order in which they were set. */
  readonly #timers: Set<PendingTimer> = new Set();

  constructor(process: Process) {
    this.#process = process;
  }

  now(): number {
    return this.#process.machine.now;
  }

  monotonic(): number {
    return this.#process.machine.monotonic;
  }

  timer(millis: number, call: () => void): Timer {
    const pending: PendingTimer = { due: this.monotonic() + (millis > 0 ? millis : 0), call };
    this.#timers.add(pending);
    return { cancel: () => void this.#timers.delete(pending) };
  }

  defer(call: () => void): void {
    this.#process.pump.defer(call);
  }

  yield(): Promise<void> {
    return new Promise((resolve) => this.defer(resolve));
  }

  async advance(millis: number): Promise<void> {
    const { machine, pump } = this.#process;
    await pump.settle();
    const until = machine.monotonic + millis;
    while (!this.#process.frozen) {
      const timer = this.#firstDue(until);
      machine.monotonic = Math.max(machine.monotonic, timer?.due ?? until);
      if (timer === undefined) return;
      this.#timers.delete(timer);
      timer.call();
      await pump.settle();
    }
  }

  #firstDue(until: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= until && (first === undefined || timer.due < first.due)) first = timer;
    }
    return first;
  }
}
