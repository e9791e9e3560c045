import { abortedError, EhdbError, whenAborted } from "@ehdb/contracts";
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
  /** Bytes that whoever `ready()` woke may still take before its turn is over; nobody else is served meanwhile. */
  #turn: number | undefined;

  constructor(clock: Clock, hasRoom: (bytes: number) => boolean) {
    this.#clock = clock;
    this.#hasRoom = hasRoom;
  }

  get hasWaiters(): boolean {
    return this.#waiters.length > 0;
  }

  /** Whether an append would jump the queue. One that doesn't, because it's its turn, uses it up. */
  blocks(bytes: number): boolean {
    if (this.#waiters.length === 0) return false;
    if (this.#turn === undefined || bytes > this.#turn) return true;
    this.#turn -= bytes;
    return false;
  }

  /** Resolves with what `take` returns, called as soon as there is room and nobody is ahead. */
  wait<T>(bytes: number, take: () => T, options: Waiting = {}): Promise<T> {
    const { signal, timeoutMillis } = options;
    if (signal?.aborted) return Promise.reject(abortedError(signal, "waiting for room"));
    return new Promise<T>((resolve, reject) => {
      let timer: Timer | undefined;
      const stopWaiting = (): void => {
        timer?.cancel();
        stopListening?.();
      };
      const grant = (): void => {
        try {
          resolve(take());
        } catch (error) {
          reject(error);
        }
      };
      const waiter: Waiter = { bytes, grant, reject, stopWaiting };
      const stopListening =
        signal && whenAborted(signal, () => this.#remove(waiter, abortedError(signal, "waiting for room")));
      if (timeoutMillis !== undefined) {
        const message = `no room for ${bytes} bytes within ${timeoutMillis} ms. Wait longer, or raise maxInFlightBytes`;
        timer = this.#clock.timer(
          timeoutMillis,
          () => this.#remove(waiter, new EhdbError("READY_TIMEOUT", message, { bytes, timeoutMillis })),
          true,
        );
      }
      this.#waiters.push(waiter);
      this.serve();
    });
  }

  /** The next `bytes` of this turn belong to whoever `ready()` woke. */
  holdTurn(bytes: number): void {
    this.#turn = bytes;
    this.#clock.defer(() => {
      this.#turn = undefined;
      this.serve();
    });
  }

  serve(): void {
    while (this.#turn === undefined) {
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
