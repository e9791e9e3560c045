import type { FeedState, FeedStateChange } from "@ehdb/contracts";

/** Changes of one moment, and what to do when they couldn't be written. */
export interface Unsaved {
  readonly changes: readonly FeedStateChange[];
  readonly putBack: () => void;
}

interface Turn {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Of one write, as far as it can be chosen. */
const mostBytes = 8 * 1024 * 1024;

/** Writes what has changed, one write at a time: whatever changes during one goes with the next, and all who ask for it wait for the same. */
export class Saver {
  readonly #state: FeedState;
  readonly #take: () => Unsaved;
  #next: Turn | undefined;
  #running: Promise<void> | undefined;
  /** The last write failed. */
  hasFailed = false;

  /** `take` gives what has changed since it was called last. */
  constructor(state: FeedState, take: () => Unsaved) {
    this.#state = state;
    this.#take = take;
  }

  /** Resolves when all that has changed until now is durable. Rejects with why not: it's tried again with the next call. */
  save(): Promise<void> {
    if (this.#next !== undefined) return this.#next.promise;
    this.#next = makeTurn();
    // Whoever doesn't wait for it meets a failure at his next call.
    this.#next.promise.catch(() => undefined);
    const { promise } = this.#next;
    this.#running ??= Promise.resolve().then(() => this.#run());
    return promise;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let turn = this.#next; turn !== undefined; turn = this.#next) {
      this.#next = undefined;
      const { changes, putBack } = this.#take();
      try {
        for (const some of inPieces(changes)) await this.#state.write(some);
        this.hasFailed = false;
        turn.resolve();
      } catch (error) {
        this.hasFailed = true;
        putBack();
        turn.reject(error);
      }
    }
    this.#running = undefined;
  }
}

function* inPieces(changes: readonly FeedStateChange[]): Generator<readonly FeedStateChange[]> {
  let piece: FeedStateChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = change.key.length + (change.value?.length ?? 0);
    if (bytes + size > mostBytes && piece.length > 0) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push(change);
    bytes += size;
  }
  if (piece.length > 0) yield piece;
}

function makeTurn(): Turn {
  let resolve: Turn["resolve"] = () => undefined;
  let reject: Turn["reject"] = () => undefined;
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { promise, resolve, reject };
}
