/** What a heap holds: it knows its place in it. */
export interface HeapItem<T extends HeapItem<T>> {
  /** The heap that has it. */
  heap: Heap<T> | undefined;
  heapPlace: number;
}

/** A binary heap whose items can be taken from the middle: adding and taking cost the logarithm of the size. */
export class Heap<T extends HeapItem<T>> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.heap = this;
    item.heapPlace = this.#items.length;
    this.#items.push(item);
    this.#rise(item);
  }

  /** Only of an item that it has. */
  remove(item: T): void {
    item.heap = undefined;
    const last = this.#items.pop() as T;
    if (last === item) return;
    last.heapPlace = item.heapPlace;
    this.#items[last.heapPlace] = last;
    this.#rise(last);
    this.#sink(last);
  }

  #rise(item: T): void {
    while (item.heapPlace > 0) {
      const parent = this.#items[(item.heapPlace - 1) >> 1] as T;
      if (!this.#isBefore(item, parent)) return;
      this.#swap(parent, item);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const left = 2 * item.heapPlace + 1;
      let child = this.#items[left];
      const right = this.#items[left + 1];
      if (right !== undefined && this.#isBefore(right, child as T)) child = right;
      if (child === undefined || !this.#isBefore(child, item)) return;
      this.#swap(item, child);
    }
  }

  #swap(upper: T, lower: T): void {
    const place = upper.heapPlace;
    upper.heapPlace = lower.heapPlace;
    lower.heapPlace = place;
    this.#items[upper.heapPlace] = upper;
    this.#items[lower.heapPlace] = lower;
  }
}
