import { matches } from "./faults.ts";
import type { OperationKind } from "./statistics.ts";

/** Where an incarnation freezes by itself. */
export interface CrashPoint {
  readonly operation: OperationKind;
  /** The nth such operation from now; 1, the default, is the next one. */
  readonly nth?: number;
  /** Just before it takes effect, or just after, when its caller hasn't heard of it yet. `before` unless given. */
  readonly when?: "before" | "after";
  /** Only operations on such a path count. */
  readonly path?: RegExp;
}

interface ArmedPoint {
  readonly point: CrashPoint;
  left: number;
}

/** Watches for the moments at which a test wants the machine to die. */
export class CrashPoints {
  readonly #armed: ArmedPoint[] = [];
  #operationsLeft = Infinity;

  after(operations: number): void {
    this.#operationsLeft = operations;
  }

  at(point: CrashPoint): void {
    this.#armed.push({ point, left: point.nth ?? 1 });
  }

  reachedBefore(kind: OperationKind, path: string): boolean {
    return this.#armed.length > 0 && this.#reached(kind, path, "before");
  }

  reachedAfter(kind: OperationKind, path: string): boolean {
    const reached = this.#armed.length > 0 && this.#reached(kind, path, "after");
    return --this.#operationsLeft <= 0 || reached;
  }

  #reached(kind: OperationKind, path: string, when: "before" | "after"): boolean {
    let reached = false;
    for (const armed of this.#armed) {
      const { point } = armed;
      if (point.operation !== kind || (point.when ?? "before") !== when || !matches(point.path, path)) continue;
      if (--armed.left === 0) reached = true;
    }
    return reached;
  }
}
