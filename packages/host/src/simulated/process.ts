import { EhdbError } from "@ehdb/contracts";
import { codeOf } from "../file-error.ts";
import { type CrashPoint, CrashPoints } from "./crash-points.ts";
import { countFailure, matches } from "./faults.ts";
import type { Machine } from "./machine.ts";
import { CONTINUE, type Effect, Operation } from "./operation.ts";
import { Pump } from "./pump.ts";
import type { OperationKind } from "./statistics.ts";

/** Turns that a slow operation lets pass, at most. */
const SLOW_TURNS = 32;

interface Hold {
  readonly kinds: readonly OperationKind[];
  readonly path: RegExp | undefined;
}

/** The life of one process on the machine: its operations in their turns, until it freezes. */
export class Process {
  readonly machine: Machine;
  readonly pump: Pump<Operation>;
  readonly #points = new CrashPoints();
  readonly #holds: Set<Hold> = new Set();
  readonly #whenFrozen: (() => void)[] = [];
  #frozen = false;

  constructor(machine: Machine) {
    this.machine = machine;
    this.pump = new Pump(machine.scheduling, (operation) => this.#isHeld(operation));
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  whenFrozen(): Promise<void> {
    if (this.#frozen) return Promise.resolve();
    return new Promise((resolve) => this.#whenFrozen.push(resolve));
  }

  freeze(): void {
    if (this.#frozen) return;
    this.#frozen = true;
    this.pump.stop();
    for (const resolve of this.#whenFrozen.splice(0)) resolve();
  }

  crashAfter(operations: number): void {
    if (operations <= 0) this.freeze();
    else this.#points.after(operations);
  }

  crashAt(point: CrashPoint): void {
    this.#points.at(point);
  }

  hold(kinds: readonly OperationKind[], path: RegExp | undefined): () => void {
    const hold: Hold = { kinds: [...kinds], path };
    this.#holds.add(hold);
    this.pump.review();
    return () => {
      if (this.#holds.delete(hold)) this.pump.review();
    };
  }

  /** Queues an operation. In a frozen process nothing is ever heard of it. */
  perform<Result>(kind: OperationKind, path: string, effect: Effect<Result>): Promise<Result> {
    if (this.#frozen) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      const operation = new Operation(kind, path, effect, this.#turn, resolve as (value: unknown) => void, reject);
      const { mishaps, faults, statistics } = this.machine;
      if (mishaps.chance(faults.slow)) {
        operation.delay = 1 + mishaps.integer(SLOW_TURNS);
        statistics.slowOperations++;
      }
      this.pump.add(operation);
    });
  }

  /** Performs an operation at once, all its turns in one. */
  performNow<Result>(kind: OperationKind, path: string, effect: Effect<Result>): Result {
    if (this.#frozen) throw frozenError(kind, path);
    const operation = new Operation(kind, path, effect, this.#turn, ignore, ignore);
    if (!this.#start(operation)) throw frozenError(kind, path);
    let result: Result | typeof CONTINUE;
    try {
      do result = effect(operation);
      while (result === CONTINUE);
    } catch (error) {
      if (!this.#complete(operation, error)) throw frozenError(kind, path);
      throw error;
    }
    if (!this.#complete(operation)) throw frozenError(kind, path);
    return result;
  }

  /**
   * A pure computation: one operation of two turns, its start and its end. Between them nothing else takes place, so
   * the real time that it takes changes no history.
   */
  compute<Result>(name: string, begin: () => Promise<Result>): Promise<Result> {
    let end: (() => Result) | undefined;
    return this.perform<Result>("job", name, (operation) => {
      if (end !== undefined) return end();
      operation.throwFault();
      const resume = this.pump.pause();
      void begin()
        .then(
          (result) => (end = () => result),
          (error: unknown) =>
            (end = () => {
              throw error;
            }),
        )
        .then(resume);
      return CONTINUE;
    });
  }

  /**
   * The process is dead: of what it had under way each operation has happened or not, by the seed; with `dropAll`
   * none has.
   */
  abandon(dropAll: boolean): void {
    const { crashes, statistics } = this.machine;
    for (const operation of this.pump.drain()) {
      if (dropAll || operation.kind === "job" || !crashes.chance(0.5)) statistics.droppedOperations++;
      else this.#finishUnheard(operation);
    }
  }

  #finishUnheard(operation: Operation): void {
    try {
      while (operation.effect(operation) === CONTINUE && this.machine.crashes.chance(0.5));
    } catch {
      // It failed, and nobody is left to hear of it.
    }
  }

  readonly #turn = (operation: Operation): void => {
    if (!operation.started && !this.#start(operation)) return;
    let result: unknown;
    try {
      result = operation.effect(operation);
    } catch (error) {
      if (this.#complete(operation, error)) operation.reject(error);
      return;
    }
    if (result === CONTINUE) this.pump.add(operation);
    else if (this.#complete(operation)) operation.resolve(result);
  };

  /** Whether the process is still alive to do it. */
  #start(operation: Operation): boolean {
    if (this.#points.reachedBefore(operation.kind, operation.path)) {
      this.freeze();
      return false;
    }
    operation.started = true;
    operation.fault = this.machine.plan.draw(operation.kind, operation.path);
    return true;
  }

  /** Accounts for it. Whether the process is still alive to hear of it. */
  #complete(operation: Operation, error?: unknown): boolean {
    const { statistics, operations, history } = this.machine;
    const { kind, path, position, bytes, checksum } = operation;
    statistics.operations++;
    operations[kind]++;
    if (error !== undefined) countFailure(statistics, kind, error);
    const outcome = error === undefined ? "ok" : (codeOf(error) ?? "error");
    history.add({ operation: kind, path, position, bytes, outcome, checksum });
    if (this.#points.reachedAfter(kind, path)) this.freeze();
    return !this.#frozen;
  }

  #isHeld(operation: Operation): boolean {
    for (const { kinds, path } of this.#holds) {
      if (kinds.includes(operation.kind) && matches(path, operation.path)) return true;
    }
    return false;
  }
}

function ignore(): void {}

/** Not an error of files, so that no engine takes the end of its own process for a bad disk. */
function frozenError(kind: OperationKind, path: string): EhdbError {
  return new EhdbError(
    "UNEXPECTED",
    `${kind} on ${path}: this simulated process is dead; go on with the host that crash() or kill() returns`,
    { operation: kind, path, frozen: true },
  );
}
