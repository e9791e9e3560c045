/** So many are told; the others are counted. */
const TOLD = 3;

/** What is wrong, without keeping a million lines when everything is. */
export class Problems {
  readonly #told: string[] = [];
  #count = 0;

  add(problem: string): void {
    this.#count += 1;
    if (this.#told.length < TOLD) this.#told.push(problem);
  }

  get count(): number {
    return this.#count;
  }

  get none(): boolean {
    return this.#count === 0;
  }

  /** Undefined when there are none. */
  get text(): string | undefined {
    if (this.none) return undefined;
    const more = this.#count - this.#told.length;
    return `${this.#told.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
  }
}
