import type { SimulatedHost } from "@ehdb/host";

/** How a stage ended: all are done; the machine stopped; or somebody waits for ever. */
export type StageEnd = "done" | "frozen" | "hung";

/** Rounds in which nobody gets anywhere, though time moves. */
const patientRounds = 16;
/** Far more than any one step takes. */
const turnsToSpin = 50_000;

/**
 * Where actors work side by side on one incarnation of the host. Time moves only when nobody can go on without it; who
 * still doesn't go on after a while never will.
 */
export class Stage {
  readonly host: SimulatedHost;
  readonly #actors: Map<number, string> = new Map();
  readonly #steps: Map<number, string> = new Map();
  readonly #onError: (who: string, error: unknown) => void;
  #next = 0;
  #progress = 0;

  constructor(host: SimulatedHost, onError: (who: string, error: unknown) => void) {
    this.host = host;
    this.#onError = onError;
  }

  /** What is waited for, for the message about a hang. */
  get waiting(): string {
    return [...this.#steps.values()].join(", ") || [...this.#actors.values()].join(", ");
  }

  start(name: string, work: () => Promise<void>): void {
    const id = this.#next++;
    this.#actors.set(id, name);
    work()
      .catch((error: unknown) => this.#onError(name, error))
      .finally(() => {
        this.#actors.delete(id);
        this.#progress++;
      });
  }

  /** One thing that an actor waits for. In a machine that has stopped nobody hears an answer. */
  async step<T>(what: string, call: () => Promise<T>): Promise<T> {
    if (this.host.frozen) return await new Promise<never>(() => {});
    const id = this.#next++;
    this.#steps.set(id, what);
    try {
      return await call();
    } finally {
      this.#steps.delete(id);
      this.#progress++;
      // oxlint-disable-next-line no-unsafe-finally -- the dead hear nothing, errors included
      if (this.host.frozen) await new Promise<never>(() => {});
    }
  }

  async pause(millis: number): Promise<void> {
    await this.step(
      `a pause of ${millis} ms`,
      () => new Promise<void>((resolve) => void this.host.clock.timer(millis, resolve)),
    );
  }

  /** Until every actor is done. */
  async finish(): Promise<StageEnd> {
    for (let idle = 0, seen = -1; ;) {
      if (await this.#spins(this.host.settle())) return "hung";
      if (this.host.frozen) return "frozen";
      if (this.#actors.size === 0) return "done";
      if (this.#progress !== seen) {
        seen = this.#progress;
        idle = 0;
        continue;
      }
      if (idle++ >= patientRounds) return "hung";
      if (await this.#spins(this.host.advance(idle < 4 ? 4 : idle < 8 ? 60 : 1000))) return "hung";
    }
  }

  /** Whether the machine is busy without end, and nobody gets anywhere by it. */
  async #spins(work: Promise<void>): Promise<boolean> {
    let busy = true;
    void work.then(() => {
      busy = false;
    });
    for (let turns = 0, seen = -1; busy && turns < turnsToSpin; turns++) {
      if (this.#progress !== seen) {
        seen = this.#progress;
        turns = 0;
      }
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    return busy;
  }
}
