import { abortedError, EhdbError } from "@ehdb/contracts";
import type { Clock, Timer } from "@ehdb/host";
import type { Waiting } from "./api.ts";

interface Waiter {
  readonly bytes: number;
  /** Takes the room at once; the next in line is asked only afterwards. */
  readonly grant: () => void;
  readonly reject: (error: unknown) => void;
  readonly stopWaiting: () => void;
}

/** Those who wait for room, first come, first served. */
export class RoomQueue {
  readonly #clock: Clock;
  readonly #hasRoom: (bytes: number) => boolean;
  #waiters: Waiter[] = [];
  /** Who was granted room by `ready()` and runs next; until then nobody else is. */
  #turn = false;

  constructor(clock: Clock, hasRoom: (bytes: number) => boolean) {
    this.#clock = clock;
    this.#hasRoom = hasRoom;
  }

  /** Whether a synchronous append would jump the queue. */
  get busy(): boolean {
    return this.#waiters.length > 0 && !this.#turn;
  }

  /** Resolves with what `take` returns, called as soon as there is room and nobody is ahead. */
  wait<T>(bytes: number, take: () => T, options: Waiting = {}): Promise<T> {
    const { signal, timeoutMillis } = options;
    if (signal?.aborted) return Promise.reject(abortedError(signal, "waiting for room"));
    return new Promise<T>((resolve, reject) => {
      let timer: Timer | undefined;
      const onAbort = (): void => this.#remove(waiter, abortedError(signal as AbortSignal, "waiting for room"));
      const stopWaiting = (): void => {
        timer?.cancel();
        signal?.removeEventListener("abort", onAbort);
      };
      const grant = (): void => {
        try {
          resolve(take());
        } catch (error) {
          reject(error);
        }
      };
      const waiter: Waiter = { bytes, grant, reject, stopWaiting };
      signal?.addEventListener("abort", onAbort, { once: true });
      if (timeoutMillis !== undefined) {
        const message = `no room for ${bytes} bytes within ${timeoutMillis} ms. Wait longer, or raise maxInFlightBytes`;
        timer = this.#clock.timer(timeoutMillis, () =>
          this.#remove(waiter, new EhdbError("READY_TIMEOUT", message, { bytes, timeoutMillis })),
          true,
        );
      }
      this.#waiters.push(waiter);
      this.serve();
    });
  }

  /** The rest of this turn belongs to whoever `ready()` woke. */
  holdTurn(): void {
    this.#turn = true;
    this.#clock.defer(() => {
      this.#turn = false;
      this.serve();
    });
  }

  serve(): void {
    while (!this.#turn) {
      const waiter = this.#waiters[0];
      if (waiter === undefined || !this.#hasRoom(waiter.bytes)) return;
      this.#waiters.shift();
      waiter.stopWaiting();
      waiter.grant();
    }
  }

  rejectAll(error: unknown): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      waiter.stopWaiting();
      waiter.reject(error);
    }
  }

  #remove(waiter: Waiter, error: unknown): void {
    const at = this.#waiters.indexOf(waiter);
    if (at === -1) return;
    this.#waiters.splice(at, 1);
    waiter.stopWaiting();
    waiter.reject(error);
    this.serve();
  }
}
