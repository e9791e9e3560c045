/** A column of numbers that grows: 8 bytes a value, where an array of objects takes ten times as much. */
export class Doubles {
  #values = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }

  at(i: number): number {
    return this.#values[i] as number;
  }
}

/** The same of u32. */
export class Words {
  #values = new Uint32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Uint32Array(this.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }

  at(i: number): number {
    return this.#values[i] as number;
  }

  increment(i: number): void {
    this.#values[i] = (this.#values[i] as number) + 1;
  }

  /** A view. */
  values(): Uint32Array {
    return this.#values.subarray(0, this.length);
  }
}
