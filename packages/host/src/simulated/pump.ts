import type { Stream } from "./stream.ts";

/** The real one, taken before a test's fake timers can replace it. */
const nextTurn: typeof setImmediate = setImmediate;

/**
 * Turns that are asked of the event loop at once. Node runs them in one round, with everything that waits in between:
 * the same order as one by one, without a look at the system's events for each.
 */
const TURNS_AHEAD = 16;

/** Something that waits for its turn. */
export interface QueuedTask {
  /** Turns that it lets pass after it was first chosen. */
  delay: number;
  run(): void;
}

/**
 * The scheduler: each turn one queued task, chosen by the seed, takes place; then everything that was waiting for it
 * runs until it waits again. Deferred calls keep their own order and take turns with the tasks.
 */
export class Pump<Task extends QueuedTask> {
  readonly #stream: Stream;
  readonly #holds: (task: Task) => boolean;
  #queue: Task[] = [];
  #held: Task[] = [];
  #deferred: (() => void)[] = [];
  #firstDeferred = 0;
  #settling: (() => void)[] = [];
  /** Turns asked for and not yet come. */
  #scheduled = 0;
  #stopped = false;
  #pauses = 0;

  /** `holds` says whether a task must stay in the queue for now. */
  constructor(stream: Stream, holds: (task: Task) => boolean) {
    this.#stream = stream;
    this.#holds = holds;
  }

  add(task: Task): void {
    if (this.#holds(task)) {
      this.#held.push(task);
      return;
    }
    this.#queue.push(task);
    this.#schedule();
  }

  defer(call: () => void): void {
    if (this.#stopped) return;
    this.#deferred.push(call);
    this.#schedule();
  }

  /** Queues what is no longer held, and takes out what is held now. */
  review(): void {
    const all = [...this.#queue, ...this.#held];
    this.#queue = [];
    this.#held = [];
    for (const task of all) this.add(task);
  }

  /** Resolves when nothing is queued but what is held, and nothing that was waiting queues more. */
  settle(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#settling.push(resolve);
      this.#schedule();
    });
  }

  /** No turns until the function that is returned is called. */
  pause(): () => void {
    this.#pauses++;
    return () => {
      this.#pauses--;
      this.#schedule();
    };
  }

  /** Nothing takes place any more. */
  stop(): void {
    this.#stopped = true;
    for (const resolve of this.#settling.splice(0)) resolve();
  }

  /** What never took its turn, in an order chosen by the seed. */
  drain(): Task[] {
    const left = [...this.#queue.splice(0), ...this.#held.splice(0)];
    const drained: Task[] = [];
    while (left.length > 0) drained.push(this.#take(left));
    return drained;
  }

  #schedule(): void {
    if (this.#scheduled > 0 || this.#stopped || this.#pauses > 0) return;
    while (this.#scheduled < TURNS_AHEAD) {
      this.#scheduled++;
      nextTurn(this.#turn);
    }
  }

  readonly #turn = (): void => {
    this.#scheduled--;
    if (this.#stopped || this.#pauses > 0) return;
    const deferred = this.#deferred.length - this.#firstDeferred;
    if (this.#queue.length + deferred === 0) {
      for (const resolve of this.#settling.splice(0)) resolve();
      return;
    }
    // Before the task runs: one that throws must not stop the others.
    this.#schedule();
    if (deferred > 0 && (this.#queue.length === 0 || this.#stream.chance(0.5))) this.#runDeferred();
    else this.#runTask();
  };

  #runTask(): void {
    const task = this.#take(this.#queue);
    if (task.delay > 0) {
      task.delay--;
      this.#queue.push(task);
    } else task.run();
  }

  #runDeferred(): void {
    const call = this.#deferred[this.#firstDeferred++];
    if (this.#firstDeferred > 1024) {
      this.#deferred = this.#deferred.slice(this.#firstDeferred);
      this.#firstDeferred = 0;
    }
    call?.();
  }

  #take(tasks: Task[]): Task {
    const place = tasks.length === 1 ? 0 : this.#stream.integer(tasks.length);
    const taken = tasks[place] as Task;
    const last = tasks.pop() as Task;
    if (place < tasks.length) tasks[place] = last;
    return taken;
  }
}
