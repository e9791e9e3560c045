import type { PendingMessage } from "./pending-message.ts";

/** Sequences of a page. */
const pageSequences = 256;

/** Messages with sequences near each other that aren't done with. They are kept together. */
export interface Page {
  readonly number: number;
  readonly messages: PendingMessage[];
  isDirty: boolean;
  /** There is something of it in the state. */
  isStored: boolean;
}

/** The pages of a group, and which of them have changed since they were last written. */
export class Pages {
  readonly #pages = new Map<number, Page>();
  #dirty: Page[] = [];
  #last: Page | undefined;

  get dirtyCount(): number {
    return this.#dirty.length;
  }

  /** That of a sequence; it's made when there is none. */
  at(sequence: number): Page {
    const number = Math.floor(sequence / pageSequences);
    if (this.#last?.number === number) return this.#last;
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = { number, messages: [], isDirty: false, isStored: false };
      this.#pages.set(number, page);
    }
    this.#last = page;
    return page;
  }

  /** One that is in the state. */
  stored(number: number): Page {
    const page = { number, messages: [], isDirty: false, isStored: true };
    this.#pages.set(number, page);
    return page;
  }

  add(message: PendingMessage, page: Page): void {
    message.pagePlace = page.messages.length;
    page.messages.push(message);
  }

  remove({ pagePlace }: PendingMessage, page: Page): void {
    const last = page.messages.pop() as PendingMessage;
    if (last.pagePlace === pagePlace) return;
    last.pagePlace = pagePlace;
    page.messages[pagePlace] = last;
  }

  touch(page: Page): void {
    if (page.isDirty) return;
    page.isDirty = true;
    this.#dirty.push(page);
  }

  touchAll(): void {
    for (const page of this.#pages.values()) this.touch(page);
  }

  /** Those that have changed. They count as written from now on; those that are empty are forgotten. */
  takeDirty(): readonly Page[] {
    const dirty = this.#dirty;
    this.#dirty = [];
    this.#last = undefined;
    for (const page of dirty) {
      page.isDirty = false;
      if (page.messages.length === 0) this.#pages.delete(page.number);
    }
    return dirty;
  }

  /** What `takeDirty` gave couldn't be written. What has come since to a place of theirs is written instead. */
  putBack(pages: readonly Page[]): void {
    for (const page of pages) {
      const now = this.#pages.get(page.number) ?? page;
      this.#pages.set(page.number, now);
      now.isStored = true;
      this.touch(now);
    }
  }

  get all(): Iterable<Page> {
    return this.#pages.values();
  }

  /** Nothing is pending any more: what is stored goes with the next write. */
  clear(): void {
    for (const page of this.#pages.values()) {
      page.messages.length = 0;
      this.touch(page);
    }
  }
}
