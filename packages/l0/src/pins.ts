import { EhdbError } from "@ehdb/contracts";
import type { Clock, Timer } from "@ehdb/host";
import type { View } from "./view.ts";

/** What a read needs for as long as it runs: what there is at one moment, kept from going. */
export interface Pin {
  readonly view: View;
  /** Says that it's in use; COMPACTED when it was let go because it wasn't for too long. */
  touch(): void;
  /** Idempotent. */
  release(): void;
}

export interface PinCounts {
  readonly pins: number;
  readonly expired: number;
  readonly oldestMillis: number;
}

/** Something that no view has any more from `version` on, and how it goes. */
interface Retired {
  readonly version: number;
  readonly remove: () => void;
}

/** Views in use. What was replaced goes once no view in use has it; one that stands still for too long doesn't hold it back for ever. */
export class Pins {
  readonly #clock: Clock;
  readonly #idleMillis: number;
  readonly #pins: Set<HeldPin> = new Set();
  #retired: Retired[] = [];
  #timer: Timer | undefined;
  #expired = 0;

  constructor(clock: Clock, idleSeconds: number) {
    this.#clock = clock;
    this.#idleMillis = idleSeconds * 1000;
  }

  get counts(): PinCounts {
    const now = this.#clock.monotonic();
    let oldestMillis = 0;
    for (const { begun } of this.#pins) oldestMillis = Math.max(oldestMillis, now - begun);
    return { pins: this.#pins.size, expired: this.#expired, oldestMillis };
  }

  /** Retired things that wait for a pin. */
  get waiting(): number {
    return this.#retired.length;
  }

  /** For who may stand still for ever: it's let go when it isn't used. */
  pin(view: View): Pin {
    return this.#add(view, true);
  }

  /** For one question, which ends: it stays, however slow the disk is. */
  hold(view: View): Pin {
    return this.#add(view, false);
  }

  /** Views from `version` on don't have it. */
  retire(version: number, remove: () => void): void {
    this.#retired.push({ version, remove });
    this.swapped();
  }

  /** There is another view: those of before hold memory or files that nothing else does. */
  swapped(): void {
    this.#expireIdle();
    this.#removeUnpinned();
  }

  /** Nothing waits any more: what is still retired is left to the next open. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#retired = [];
  }

  #add(view: View, mayExpire: boolean): Pin {
    const pin = new HeldPin(view, this.#clock, mayExpire, (released) => {
      if (this.#pins.delete(released)) this.#removeUnpinned();
    });
    this.#pins.add(pin);
    return pin;
  }

  #expireIdle(): void {
    const before = this.#clock.monotonic() - this.#idleMillis;
    for (const pin of this.#pins) {
      if (!pin.mayExpire || pin.used > before) continue;
      this.#expired++;
      pin.expire(this.#idleMillis / 1000);
    }
  }

  #removeUnpinned(): void {
    if (this.#retired.length === 0) return;
    let oldest = Infinity;
    for (const { version } of this.#pins) oldest = Math.min(oldest, version);
    const gone = this.#retired.filter(({ version }) => version <= oldest);
    this.#retired = this.#retired.filter(({ version }) => version > oldest);
    for (const { remove } of gone) remove();
    this.#watch();
  }

  #watch(): void {
    if (this.#retired.length === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    } else {
      this.#timer ??= this.#clock.timer(Math.min(this.#idleMillis, 2 ** 31 - 1), () => {
        this.#timer = undefined;
        this.swapped();
      });
    }
  }
}

class HeldPin implements Pin {
  readonly begun: number;
  used: number;
  readonly #clock: Clock;
  readonly #released: (pin: HeldPin) => void;
  readonly version: number;
  readonly mayExpire: boolean;
  #view: View | undefined;
  #expiry: EhdbError | undefined;

  constructor(view: View, clock: Clock, mayExpire: boolean, released: (pin: HeldPin) => void) {
    this.#view = view;
    this.version = view.partsVersion;
    this.mayExpire = mayExpire;
    this.#clock = clock;
    this.#released = released;
    this.begun = this.used = clock.monotonic();
  }

  get view(): View {
    if (this.#view !== undefined) return this.#view;
    throw this.#expiry ?? new EhdbError("CLOSED", "the snapshot was released. Take another one", {});
  }

  touch(): void {
    if (this.#expiry !== undefined) throw this.#expiry;
    this.used = this.#clock.monotonic();
  }

  expire(seconds: number): void {
    const message = `this read stood still for more than ${seconds} s, and what it read from was let go. Read again from where it was, or open the store with a larger pinIdleSeconds`;
    this.#expiry = new EhdbError("COMPACTED", message, { idleSeconds: seconds });
    this.release();
  }

  release(): void {
    this.#view = undefined;
    this.#released(this);
  }
}
