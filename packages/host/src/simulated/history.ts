import { type OperationKind, operationKinds } from "./statistics.ts";

/** One completed operation. */
export interface HistoryEntry {
  /** From 1, over all incarnations. */
  readonly place: number;
  readonly operation: OperationKind | "crash" | "kill";
  readonly path: string;
  /** For reads and writes, else 0. */
  readonly position: number;
  /** Bytes read, written or cut to, else 0. */
  readonly bytes: number;
  /** `ok`, or the error's code. */
  readonly outcome: string;
}

/** What is digested of an operation: its entry and a checksum of the bytes it wrote. */
export interface HistoryFact extends Omit<HistoryEntry, "place"> {
  readonly checksum: number;
}

/** All operations in their order, as a digest: the same seed and the same program give the same one. */
export interface History {
  /** 16 hexadecimal digits over everything so far, crashes included. */
  readonly digest: string;
  /** The newest operations, oldest first: as many as the option `keepHistory` says. */
  readonly entries: readonly HistoryEntry[];
}

const codes: ReadonlyMap<string, number> = new Map(
  [...operationKinds, "crash", "kill"].map((kind, place) => [kind, place + 1]),
);

export class RunningHistory implements History {
  readonly #limit: number;
  readonly #entries: HistoryEntry[] = [];
  readonly #hashes: Map<string, number> = new Map();
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;
  #place = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get digest(): string {
    return [this.#high, this.#low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  get entries(): readonly HistoryEntry[] {
    return this.#entries.slice(-this.#limit || this.#entries.length);
  }

  add(fact: HistoryFact): void {
    this.#place++;
    this.#mix(codes.get(fact.operation) ?? 0);
    this.#mix(this.#hash(fact.path));
    this.#mix(fact.position);
    this.#mix(fact.bytes);
    this.#mix(fact.checksum);
    if (fact.outcome !== "ok") this.#mix(this.#hash(fact.outcome));
    if (this.#limit === 0) return;
    const { operation, path, position, bytes, outcome } = fact;
    this.#entries.push({ place: this.#place, operation, path, position, bytes, outcome });
    // Cut rarely, so that keeping the last entries costs the same however many they are.
    if (this.#entries.length >= this.#limit * 2) this.#entries.splice(0, this.#entries.length - this.#limit);
  }

  #mix(word: number): void {
    const low = Math.imul(this.#low ^ word, 0x85ebca6b);
    this.#low = low ^ (low >>> 13) ^ this.#high;
    const high = Math.imul(this.#high ^ (low >>> 7) ^ word, 0xc2b2ae35);
    this.#high = high ^ (high >>> 16);
  }

  /** FNV-1a, remembered: the same few paths come again and again. */
  #hash(text: string): number {
    const known = this.#hashes.get(text);
    if (known !== undefined) return known;
    let hash = 0x811c9dc5;
    for (let place = 0; place < text.length; place++) hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
    if (this.#hashes.size >= 10_000) this.#hashes.clear();
    this.#hashes.set(text, hash);
    return hash;
  }
}
