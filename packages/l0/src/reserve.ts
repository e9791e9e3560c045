import { EhdbError } from "@ehdb/contracts";
import type { Host, Timer } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import { isNoSpace } from "./manifest/disk-error.ts";
import { ReserveFile } from "./reserve-file.ts";

/** Between two pieces of it, while nobody needs it: 5 MiB a second, which commits don't notice. */
const paceMillis = 50;
const retryMillis = 500;
const mostRetryMillis = 60_000;

/**
 * Space kept aside so that seals and the manifest can finish on a full disk. It's given back to the disk when one of them meets
 * the end of it, and made again in the background. From the first until the second is done the journal takes nothing more of the disk
 * and nothing is merged, so that nobody else uses what was given back, and nobody grows into what must become the reserve again.
 */
export class Reserve {
  /** Writes that the disk had no room for, and that were done with what was given back. */
  used = 0;
  /** It's whole again: merges may go on. */
  onWhole: () => void = () => undefined;
  readonly #host: Host;
  readonly #dir: string;
  readonly #wanted: number;
  readonly #journal: Journal;
  readonly #file: ReserveFile;
  /** It isn't whole, because the disk is full. */
  #isShort = false;
  /** A seal found too little all the same: what was given back is left free for its next try. */
  #isTooSmall = false;
  /** How often it was given back. */
  #given = 0;
  #giving: Promise<void> | undefined;
  /** Who may need what was given back still. */
  #users = 0;
  #isKept = false;
  #working: Promise<void> | undefined;
  #timer: Timer | undefined;
  #retryMillis = retryMillis;

  constructor(host: Host, dir: string, bytes: number, journal: Journal) {
    this.#host = host;
    this.#dir = dir;
    this.#wanted = bytes;
    this.#journal = journal;
    this.#file = new ReserveFile(host, dir);
  }

  /** What it holds on disk. */
  get bytes(): number {
    return this.#file.bytes;
  }

  get isShort(): boolean {
    return this.#isShort;
  }

  /** Looks at what is there. Nothing is made before `keep`. */
  async look(): Promise<void> {
    await this.#file.look();
  }

  /** From now on it's made, and made again, in the background. */
  async keep(): Promise<void> {
    // What fails here is met again when it's made.
    await this.#file.begin(this.#wanted).catch(() => undefined);
    this.#isKept = true;
    this.#isTooSmall = false;
    this.#work();
  }

  /** Makes nothing more; resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#isKept = false;
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#working;
    await this.#file.close();
  }

  /** For a seal: until what it returns is called, with why it failed if it did, what is given back isn't taken back. */
  holdOff(): (failure?: unknown) => void {
    this.#users++;
    return (failure) => {
      this.#users--;
      this.#isTooSmall = isNoSpace(failure) && this.#given > 0;
      this.#work();
    };
  }

  /** Runs `write`, which can be run again when it has failed; on a full disk once more, with the reserve given back. */
  async use<T>(write: () => Promise<T>): Promise<T> {
    const given = this.#given;
    this.#users++;
    try {
      return await this.#tryTwice(write, given);
    } finally {
      this.#users--;
      this.#work();
    }
  }

  /** NO_SPACE for what mustn't use the reserve, nor what it's to be made of. */
  assertToSpare(what: string): void {
    if (!this.#isShort) return;
    const message = `${what} waits until the space that is kept aside for seals is whole again: the disk is full. Free some space`;
    throw new EhdbError("NO_SPACE", message, { path: this.#dir, wanted: this.#wanted, got: this.bytes });
  }

  async #tryTwice<T>(write: () => Promise<T>, given: number): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isNoSpace(error) || (this.#given === given && !(await this.#giveBack(error)))) throw error;
      const result = await write();
      this.used++;
      return result;
    }
  }

  /** False when there is nothing to give. */
  async #giveBack(cause: unknown): Promise<boolean> {
    if (this.#giving === undefined) {
      if (this.bytes === 0) return false;
      this.#giving = this.#give(cause).finally(() => {
        this.#giving = undefined;
      });
    }
    try {
      await this.#giving;
      return true;
    } catch {
      return false;
    }
  }

  async #give(cause: unknown): Promise<void> {
    await this.#ranShort(cause);
    await this.#working;
    await this.#file.giveBack();
    this.#given++;
  }

  #ranShort(cause: unknown): Promise<void> {
    this.#isShort = true;
    const message =
      "the disk is full, and what was kept aside for seals isn't whole: until it is, commits have no room but what the journal has";
    return this.#journal.stopGrowing(
      new EhdbError("NO_SPACE", message, { path: this.#dir, wanted: this.#wanted, got: this.bytes }, cause),
    );
  }

  #letGrow(): void {
    if (!this.#isShort) return;
    this.#isShort = false;
    this.#journal.growAgain();
    this.onWhole();
  }

  #work(): void {
    if (this.#working !== undefined || this.#timer !== undefined || !this.#mayMake) return;
    if (this.#isWhole) return this.#letGrow();
    this.#working = this.#make().finally(() => {
      this.#working = undefined;
      this.#work();
    });
  }

  get #isWhole(): boolean {
    return this.#file.isWhole(this.#wanted);
  }

  get #mayMake(): boolean {
    const isGivenBack = this.#isShort && (this.#users > 0 || this.#isTooSmall);
    return this.#isKept && !isGivenBack;
  }

  /** Its next piece. While commits wait for it the one after that follows at once. */
  async #make(): Promise<void> {
    await this.#host.clock.yield();
    if (!this.#mayMake) return;
    try {
      await this.#file.grow(this.#wanted);
      this.#retryMillis = retryMillis;
      if (!this.#isShort && !this.#isWhole) this.#later(paceMillis);
    } catch (error) {
      await this.#failed(error);
    }
  }

  /** What is made already stays, on a full disk. A disk that fails isn't full, and commits go on. */
  async #failed(cause: unknown): Promise<void> {
    const isFull = isNoSpace(cause);
    if (isFull) void this.#ranShort(cause);
    else {
      await this.#file.close();
      this.#letGrow();
    }
    this.#later(this.#retryMillis);
    this.#retryMillis = isFull ? retryMillis : Math.min(mostRetryMillis, 2 * this.#retryMillis);
  }

  #later(millis: number): void {
    if (!this.#isKept) return;
    this.#timer = this.#host.clock.timer(millis, () => {
      this.#timer = undefined;
      this.#work();
    });
  }
}
