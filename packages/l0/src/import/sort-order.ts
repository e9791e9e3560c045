import { EhdbError, MIB } from "@ehdb/contracts";
import type { ImportedOp } from "./imported-op.ts";

/** How far back a record that comes late finds its place. */
const mostHeld = 4096;
const mostHeldBytes = 16 * MIB;

/**
 * Records in the order of their sort keys. One that comes behind a higher sort key is refused; or, when disorder is only counted, put where
 * it belongs among those that are held back for that.
 */
export class SortOrder {
  /** Records that came behind a higher sort key. */
  outOfOrder = 0;
  readonly #dataset: string;
  readonly #isCounted: boolean;
  /** Rising. */
  readonly #held: ImportedOp[] = [];
  #heldBytes = 0;
  #highest = 0;
  #passed = 0;

  constructor(dataset: string, isCounted: boolean) {
    this.#dataset = dataset;
    this.#isCounted = isCounted;
  }

  /** Those that can't be overtaken any more. OUT_OF_ORDER; INVALID_ARGUMENT for a sort key that was there. */
  *take(op: ImportedOp): Iterable<ImportedOp> {
    if (op.sort === this.#highest) throw twice(this.#dataset, op.sort);
    if (!this.#isCounted) {
      if (op.sort < this.#highest) throw this.#outOfOrder(op.sort, this.#highest);
      this.#highest = op.sort;
      yield op;
      return;
    }
    if (op.sort <= this.#passed) throw this.#outOfOrder(op.sort, this.#passed);
    this.#hold(op);
    if (op.sort < this.#highest) this.outOfOrder++;
    this.#highest = Math.max(this.#highest, op.sort);
    while (this.#held.length > mostHeld || this.#heldBytes > mostHeldBytes) yield this.#pass();
  }

  *rest(): Iterable<ImportedOp> {
    while (this.#held.length > 0) yield this.#pass();
  }

  #hold(op: ImportedOp): void {
    const behind = this.#held.findLastIndex(({ sort }) => sort <= op.sort);
    if (this.#held[behind]?.sort === op.sort) throw twice(this.#dataset, op.sort);
    // Its batch is its caller's again before it's written.
    this.#held.splice(behind + 1, 0, { ...op, payload: new Uint8Array(op.payload) });
    this.#heldBytes += op.payload.length;
  }

  #pass(): ImportedOp {
    const op = this.#held.shift() as ImportedOp;
    this.#heldBytes -= op.payload.length;
    this.#passed = op.sort;
    return op;
  }

  #outOfOrder(sort: number, before: number): EhdbError {
    const late = this.#isCounted ? `: it comes more than ${mostHeld} records, or 16 MiB of them, too late` : "";
    const message = `sort key ${sort} comes behind ${before} in what is imported into ${this.#dataset}${late}. Sort it by its sort keys`;
    return new EhdbError("OUT_OF_ORDER", message, { dataset: this.#dataset, sort, before });
  }
}

function twice(dataset: string, sort: number): EhdbError {
  const message = `sort key ${sort} comes twice in what is imported into ${dataset}: each record has its own`;
  return new EhdbError("INVALID_ARGUMENT", message, { dataset, sort });
}
