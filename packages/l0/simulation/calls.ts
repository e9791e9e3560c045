import type { Commit, Expectation, WriteBatch } from "@ehdb/contracts";
import { logs, maps } from "./context.ts";
import type { Random } from "./random.ts";
import type { Scale } from "./settings.ts";

export type Statement =
  | {
      readonly kind: "append";
      readonly dataset: string;
      readonly key: string;
      readonly payload: Uint8Array;
      readonly id?: string | undefined;
    }
  | { readonly kind: "put"; readonly dataset: string; readonly key: string; readonly payload: Uint8Array }
  | { readonly kind: "delete"; readonly dataset: string; readonly key: string }
  | { readonly kind: "erase"; readonly dataset: string; readonly key: string; readonly below: number }
  | { readonly kind: "expect"; readonly dataset: string; readonly key: string; readonly expectation: Expectation };

/** What a commit's caller was told. `nothing`: the machine stopped before, or the outcome is unknown. */
export type Answer =
  | { readonly says: "nothing" }
  | { readonly says: "committed"; readonly commit: Commit }
  | { readonly says: "no"; readonly code: string; readonly data: unknown }
  /** By the state of the machine, not by what is stored: nothing was written. */
  | { readonly says: "refused"; readonly code: string };

/** One commit as it was asked for. */
export interface Call {
  /** Its place in the order of calls. */
  readonly number: number;
  /** What payloads are stamped with: a repeated call has the stamp of the one it repeats. */
  readonly stamp: number;
  readonly statements: readonly Statement[];
  /** No payload of it is sure to be seen after a recovery. */
  readonly isNameless: boolean;
  readonly mayAbort: boolean;
  answer: Answer;
}

const STAMP_BYTES = 8;
const hotKeys = ["a", "a/b", "b", "é", "a\u{10000}"];
const coldKeys = 60;
const mostRemembered = 30;

/** Draws commits: few keys that many want, many that few want, ids that come again. */
export class Calls {
  readonly #random: Random;
  readonly #scale: Scale;
  /** Calls that may be repeated. */
  readonly #repeatable: Call[] = [];
  #newest: Call | undefined;
  /** About what is there, as far as a caller may know: mostly right. */
  readonly #heads: Map<string, number> = new Map();
  #next = 1;

  constructor(random: Random, scale: Scale) {
    this.#random = random;
    this.#scale = scale;
  }

  key(random: Random = this.#random): string {
    if (random.chance(0.6)) return random.pick(hotKeys);
    return `cold/${random.integer(coldKeys)}`;
  }

  /** A new batch of a few statements; or a single delete. */
  draw(mayBeNameless: boolean, bytes?: number): Call {
    const random = this.#random;
    const number = this.#next++;
    if (mayBeNameless && random.chance(0.06)) {
      const key = this.key();
      return this.#call(number, number, [{ kind: "delete", dataset: random.pick(maps), key }], true);
    }
    const statements: Statement[] = [];
    const isIdempotent = random.chance(0.4);
    if (random.chance(0.8)) statements.push(this.#append(number, isIdempotent, bytes));
    // Nobody else ever writes this key, so that what is there tells that the commit is.
    else
      statements.push({
        kind: "put",
        dataset: random.pick(maps),
        key: `call/${number}`,
        payload: this.#payload(number, bytes),
      });
    for (let more = random.chance(0.5) ? 0 : random.between(1, 5); more > 0; more--) {
      statements.push(this.#write(number, isIdempotent));
    }
    if (random.chance(0.35)) statements.push(this.#expectation());
    if (random.chance(0.2)) statements.reverse();
    return this.#call(number, number, statements, false);
  }

  /** A call of before, word for word or changed; undefined when there is none yet. */
  repeat(): Call | undefined {
    const random = this.#random;
    if (this.#repeatable.length === 0) return undefined;
    const { stamp, statements } = random.chance(0.3) ? (this.#newest as Call) : random.pick(this.#repeatable);
    const way = random.integer(10);
    const number = this.#next++;
    if (way < 7) return this.#call(number, stamp, statements, false);
    const more: Statement = this.#append(number, true);
    if (way < 8) return this.#call(number, number, [more, ...statements], false);
    const changed = statements.map((one): Statement => {
      return one.kind === "append" ? { ...one, payload: this.#payload(number) } : one;
    });
    return this.#call(number, number, changed, false);
  }

  /** What the callers learned by an answer. */
  learn({ statements, answer }: Call): void {
    if (answer.says === "no" && answer.code === "CONFLICT") {
      const { dataset, key, actual } = answer.data as { dataset: string; key: string; actual: number };
      this.#heads.set(`${dataset} ${key}`, actual);
    }
    if (answer.says !== "committed" || answer.commit.isDuplicate) return;
    let place = 0;
    for (const one of statements) {
      if (one.kind === "append") {
        this.#heads.set(`${one.dataset} ${one.key}`, answer.commit.appended[place++]?.version ?? 0);
      } else if (one.kind === "put") this.#heads.set(`${one.dataset} ${one.key}`, answer.commit.revision);
      else if (one.kind === "delete") this.#heads.set(`${one.dataset} ${one.key}`, 0);
    }
  }

  #call(number: number, stamp: number, statements: readonly Statement[], isNameless: boolean): Call {
    const call: Call = {
      number,
      stamp,
      statements,
      isNameless,
      mayAbort: this.#random.chance(0.04),
      answer: { says: "nothing" },
    };
    const appends = statements.filter((one) => one.kind === "append");
    if (appends.some(({ id }) => id !== undefined)) {
      this.#newest = call;
      if (this.#repeatable.length < mostRemembered) this.#repeatable.push(call);
      else this.#repeatable[this.#random.integer(mostRemembered)] = call;
    }
    return call;
  }

  #append(stamp: number, hasId: boolean, bytes?: number): Statement {
    const random = this.#random;
    return {
      kind: "append",
      dataset: random.pick(logs),
      key: this.key(),
      payload: this.#payload(stamp, bytes),
      ...(hasId ? { id: `${stamp}.${this.#next++}` } : {}),
    };
  }

  #write(stamp: number, hasId: boolean): Statement {
    const random = this.#random;
    if (random.chance(0.12)) return this.#erase();
    if (random.chance(0.5)) return this.#append(stamp, hasId && random.chance(0.97));
    const dataset = random.pick(maps);
    const key = this.key();
    if (random.chance(0.3)) return { kind: "delete", dataset, key };
    return { kind: "put", dataset, key, payload: this.#payload(stamp) };
  }

  #erase(): Statement {
    const random = this.#random;
    const dataset = random.pick(logs);
    const key = this.key();
    const known = this.#heads.get(`${dataset} ${key}`) ?? 0;
    return { kind: "erase", dataset, key, below: random.pick([1 + random.integer(known + 1), known + 1, 1000]) };
  }

  #expectation(): Statement {
    const random = this.#random;
    const dataset = random.pick([...logs, ...maps]);
    const key = this.key();
    const known = this.#heads.get(`${dataset} ${key}`) ?? 0;
    const expectation = random.pick<Expectation>([known, known, known, known + 1, "any", "none", "exists"]);
    return { kind: "expect", dataset, key, expectation };
  }

  #payload(stamp: number, bytes: number = this.#bytes()): Uint8Array {
    const payload = Buffer.alloc(bytes, `payload ${stamp} `);
    payload.writeUInt32LE(stamp, 0);
    payload.writeUInt32LE(~stamp >>> 0, 4);
    return payload;
  }

  #bytes(): number {
    const random = this.#random;
    if (this.#scale === "large" && random.chance(0.1)) return random.between(10_000, 60_000);
    const most = this.#scale === "small" ? 120 : 6_000;
    return random.chance(0.8) ? random.between(STAMP_BYTES, most >> 3) : random.between(STAMP_BYTES, most);
  }
}

export function stating(statements: readonly Statement[]): (batch: WriteBatch) => void {
  return (batch) => {
    for (const one of statements) {
      if (one.kind === "append") batch.append(one.dataset, one.key, one.payload, one.id);
      else if (one.kind === "put") batch.put(one.dataset, one.key, one.payload);
      else if (one.kind === "delete") batch.delete(one.dataset, one.key);
      else if (one.kind === "erase") batch.erase(one.dataset, one.key, one.below);
      else batch.expect(one.dataset, one.key, one.expectation);
    }
  };
}
