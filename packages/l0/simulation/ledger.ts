import type { Call } from "./calls.ts";
import type { Evidence } from "./evidence.ts";
import type { Imported } from "./importing.ts";
import { Model } from "./model.ts";
import type { Verdict } from "./model.ts";

/** Something that was shown, to be held to the model once it's known what the commits up to a revision were. */
interface Claim {
  readonly revision: number;
  readonly check: (model: Model) => void;
}

/**
 * What the engine has promised. Calls stand in the order in which they were made, and take effect in it: so each answer is
 * judged by a model of all that was committed before, as soon as all of that is known.
 */
export class Ledger {
  readonly violations: string[] = [];
  /** The last commit that anybody was told is durable, or was shown where only durable ones are shown. */
  firm = 0;
  epoch = 0;
  model: Model;
  /** Commits that were found without an answer, and those that a crash took back. */
  unheard = 0;
  cut = 0;
  /** Imports that were found although nobody was told of them, and those that left nothing. */
  unheardImports = 0;
  lostImports = 0;
  #imported: Imported | undefined;
  #calls: Call[] = [];
  #claims: Claim[] = [];
  /** Since the last recovery: when commits were whose records were read. Some of them may be gone after the next. */
  readonly #times: Map<number, number> = new Map();

  constructor(dedupeWindow: number) {
    this.model = new Model(dedupeWindow);
  }

  fail(what: string): void {
    this.violations.push(what);
  }

  /** Right before the call is made. */
  ask(call: Call): void {
    this.#calls.push(call);
  }

  heard(call: Call, answer: Call["answer"]): void {
    call.answer = answer;
    let settled = 0;
    for (const next of this.#calls) {
      if (next.answer.says === "nothing") break;
      this.#settle(next);
      settled++;
    }
    this.#calls.splice(0, settled);
    this.#checkClaims(false);
  }

  /** Right before an import, with nobody beside it. */
  importing(imported: Imported): void {
    this.#imported = imported;
  }

  /** It's durable. `accepted`: the last commit that was taken in, of it as well. */
  imported(imported: Imported, accepted: number): void {
    this.#imported = undefined;
    this.model.bring(imported);
    this.acknowledge(this.model.revision);
    this.#mark(accepted, 1);
  }

  /** Nothing of it is there, nor ever will be. */
  importRefused(accepted: number): void {
    this.#imported = undefined;
    this.#mark(accepted, 1);
  }

  /** Commits of an import hold nothing by themselves. */
  #mark(last: number, most: number): void {
    for (let i = 0; i < most && this.model.revision < last; i++) this.model.apply([], this.model.time);
  }

  /** Everything up to `revision` is durable, or was shown as if it were. */
  acknowledge(revision: number): void {
    this.firm = Math.max(this.firm, revision);
  }

  /** A read gave a record of this commit. */
  saw({ revision, time }: { readonly revision: number; readonly time: number }): void {
    this.#times.set(revision, time);
  }

  /** Calls `check` once all commits up to `revision` are known; never, when a crash takes them back before. */
  whenKnown(revision: number, check: (model: Model) => void): void {
    if (this.model.revision >= revision) check(this.model);
    else this.#claims.push({ revision, check });
  }

  /** A recovery is done, and `evidence` is all there is: what isn't there now is gone for good. */
  opened(revision: number, epoch: number, evidence: Evidence): void {
    const calls = this.#calls.splice(0);
    for (const [place, call] of calls.entries()) {
      if (call.answer.says !== "nothing") this.#settle(call);
      else if (this.model.revision < revision) {
        const erases = calls
          .slice(place + 1)
          .flatMap(({ statements }) => statements.filter((one) => one.kind === "erase"));
        this.#lookFor(call, evidence, (dataset, key) =>
          erases.some((one) => one.dataset === dataset && one.key === key),
        );
      }
    }
    if (this.#imported !== undefined) this.#lookForImport(this.#imported, revision, evidence);
    this.#checkClaims(true);
    if (this.model.revision < revision)
      this.fail(`after recovery there are ${revision} commits, and nobody asked for more than ${this.model.revision}`);
    if (revision < this.firm)
      this.fail(`after recovery there are ${revision} commits, and ${this.firm} were acknowledged`);
    if (epoch <= this.epoch) this.fail(`the epoch is ${epoch} after recovery and was ${this.epoch} before`);
    this.epoch = Math.max(this.epoch, epoch);
    if (this.model.revision > revision) {
      this.cut += this.model.revision - revision;
      this.model = this.model.upTo(revision);
    }
    this.acknowledge(revision);
    this.#times.clear();
  }

  #lookForImport(imported: Imported, revision: number, evidence: Evidence): void {
    this.#imported = undefined;
    if (!evidence.hasRecords(imported.dataset)) {
      this.lostImports++;
      this.#mark(revision, 1);
      return;
    }
    this.unheardImports++;
    this.model.bring(imported);
    this.#mark(revision, 1);
  }

  /** A call without an answer: what there is says whether it was taken in. */
  #lookFor(call: Call, evidence: Evidence, mayBeErased: (dataset: string, key: string) => boolean): void {
    const next = this.model.revision + 1;
    if (!evidence.isOf(call, next, mayBeErased) || this.model.judge(call.statements).says !== "commit") return;
    const time = evidence.timeOf(next) ?? this.#times.get(next) ?? this.model.time;
    this.#checkTime(next, time);
    this.model.apply(call.statements, time);
    this.unheard++;
  }

  #settle(call: Call): void {
    const { answer, number } = call;
    if (answer.says === "refused" || answer.says === "nothing") return;
    const verdict = this.model.judge(call.statements);
    const must = `call ${number} on revision ${this.model.revision} must be ${shown(verdict)}`;
    if (answer.says === "no") {
      const isRight =
        verdict.says === answer.code &&
        (verdict.says !== "CONFLICT" || same(verdict.data, pick(answer.data, Object.keys(verdict.data))));
      if (!isRight) this.fail(`${must}, and was ${answer.code} ${JSON.stringify(answer.data)}`);
      return;
    }
    const { revision, appended, isDuplicate, time } = answer.commit;
    if (isDuplicate) {
      const isRight = verdict.says === "duplicate" && verdict.revision === revision && same(verdict.appended, appended);
      if (!isRight) this.fail(`${must}, and was said to be a duplicate: ${JSON.stringify(answer.commit)}`);
      return;
    }
    if (verdict.says !== "commit") this.fail(`${must}, and was committed as ${revision}`);
    if (revision !== this.model.revision + 1)
      this.fail(`call ${number} was committed as ${revision}, where ${this.model.revision + 1} comes next`);
    this.#checkTime(revision, time);
    const expected = this.model.apply(call.statements, time);
    if (!same(expected, appended))
      this.fail(`commit ${revision} got ${JSON.stringify(appended)}, and must have ${JSON.stringify(expected)}`);
  }

  #checkTime(revision: number, time: number): void {
    if (time < this.model.time) this.fail(`the time of commit ${revision} is ${time}, after ${this.model.time}`);
  }

  #checkClaims(isLast: boolean): void {
    if (this.#claims.length === 0) return;
    const claims = this.#claims;
    const { model } = this;
    this.#claims = isLast ? [] : claims.filter(({ revision }) => revision > model.revision);
    for (const { revision, check } of claims) if (revision <= model.revision) check(model);
  }
}

function shown(verdict: Verdict): string {
  return verdict.says === "CONFLICT" || verdict.says === "duplicate" ? JSON.stringify(verdict) : verdict.says;
}

function pick(data: unknown, names: readonly string[]): Record<string, unknown> {
  const all = (data ?? {}) as Record<string, unknown>;
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
