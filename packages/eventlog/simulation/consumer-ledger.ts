import type { ConsumerInfo } from "@ehdb/contracts";

interface Place {
  /** What was last answered; undefined: it isn't known to the log. */
  committed: number | undefined;
  /** What no crash may take back. */
  firm: number | undefined;
  /** Where it may stand: what was answered or only asked. */
  values: Set<number>;
  /** It may be gone: its delete has no answer, or one that a crash may take back. */
  mayBeGone: boolean;
}

/** How far each consumer is, by what was asked and answered. Acks of one consumer take effect in order, several perhaps as one. */
export class ConsumerLedger {
  readonly #fail: (what: string) => void;
  readonly #places: Map<string, Place> = new Map();

  constructor(fail: (what: string) => void) {
    this.#fail = fail;
  }

  askAck(name: string, position: number): void {
    this.#place(name).values.add(position);
  }

  acked(name: string, position: number, committed: number, isFirm: boolean): void {
    const place = this.#place(name);
    const before = place.committed ?? 0;
    if (committed < position || committed < before || !place.values.has(committed))
      this.#fail(`consumer ${name} acknowledged ${position} from ${before}, and ${committed} is committed`);
    place.committed = committed;
    if (isFirm) place.firm = committed;
    if (isFirm) place.mayBeGone = false;
  }

  askDelete(name: string): void {
    this.#place(name).mayBeGone = true;
  }

  deleted(name: string, isFirm: boolean): void {
    const place = this.#place(name);
    place.committed = undefined;
    if (!isFirm) return;
    place.firm = undefined;
    place.values = new Set();
    place.mayBeGone = false;
  }

  /** What is committed, at least and at most. */
  range(name: string): { readonly least: number; readonly most: number } {
    const { committed, values, mayBeGone } = this.#place(name);
    return { least: mayBeGone ? 0 : (committed ?? 0), most: Math.max(committed ?? 0, ...values) };
  }

  /** The least that any has acknowledged, as it was last answered: 0 when there is none. */
  get least(): number {
    const known = [...this.#places.values()].flatMap(({ committed }) => committed ?? []);
    return known.length === 0 ? 0 : Math.min(...known);
  }

  opened(list: readonly ConsumerInfo[], last: number): void {
    for (const { name } of list) if (!this.#places.has(name)) this.#fail(`consumer ${name} came out of nowhere`);
    for (const [name, place] of this.#places) {
      const info = list.find((one) => one.name === name);
      const { firm, mayBeGone, values } = place;
      if (info === undefined) {
        if (firm !== undefined && !mayBeGone) this.#fail(`consumer ${name} is gone, and ${firm} was acknowledged`);
      } else {
        const { committed, lag } = info;
        if ((firm !== undefined && !mayBeGone && committed < firm) || !values.has(committed))
          this.#fail(`consumer ${name} stands at ${committed}, and ${firm} was acknowledged`);
        if (committed > last || lag !== last - committed)
          this.#fail(`consumer ${name} stands at ${committed} with a lag of ${lag}, and the log ends at ${last}`);
      }
      const found = info?.committed;
      const known = new Set(found === undefined ? [] : [found]);
      this.#places.set(name, { committed: found, firm: found, values: known, mayBeGone: false });
    }
  }

  #place(name: string): Place {
    const known = this.#places.get(name) ?? {
      committed: undefined,
      firm: undefined,
      values: new Set(),
      mayBeGone: false,
    };
    this.#places.set(name, known);
    return known;
  }
}
