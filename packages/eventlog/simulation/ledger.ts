import { told } from "./calls.ts";
import type { Answer, Call, DeleteCall, ReclaimCall, TruncateCall } from "./calls.ts";
import { ConsumerLedger } from "./consumer-ledger.ts";
import { differsFrom } from "./differences.ts";
import type { Found } from "./found.ts";
import { Model } from "./model.ts";
import type { Verdict } from "./model.ts";

/** Something that was shown, to be held to the model once it's known what the events up to a position were. */
interface Claim {
  readonly position: number;
  readonly check: (model: Model) => void;
}

/** Where a recovery found the log's end, when it wasn't where it had been shown. */
interface Cut {
  readonly epoch: number;
  readonly position: number;
}

/**
 * What the log has promised. Calls stand in the order in which they were made, and take effect in it: so each answer is judged
 * by a model of all that was done before, as soon as all of that is known.
 */
export class Ledger {
  readonly violations: string[] = [];
  readonly consumers: ConsumerLedger;
  model: Model;
  /** The last event that anybody was told is durable, or was shown where only durable ones are shown. */
  firm = 0;
  epoch = 0;
  /** Calls that were found done without an answer, and events that a crash took back. */
  unheard = 0;
  cutEvents = 0;
  #calls: Call[] = [];
  #perhapsReclaimed: ReclaimCall[] = [];
  #claims: Claim[] = [];
  #afterOpening: (() => void)[] = [];
  readonly #cuts: Cut[] = [];
  /** What calls of unknown outcome may have hidden for a while. */
  #doubtful: ReadonlyMap<string, number> = new Map();

  constructor(dedupeWindow: number) {
    this.model = new Model(dedupeWindow);
    this.consumers = new ConsumerLedger((what) => this.fail(what));
  }

  fail(what: string): void {
    this.violations.push(what);
  }

  /** Right before the call is made. */
  ask(call: Call): void {
    this.#calls.push(call);
  }

  heard(call: Call, answer: Answer): void {
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

  /** Everything up to `position` is durable, or was shown as if it were. */
  acknowledge(position: number): void {
    this.firm = Math.max(this.firm, position);
  }

  /** Calls `check` once all events up to `position` are known; never, when a crash takes them back before. */
  whenKnown(position: number, check: (model: Model) => void): void {
    if (this.model.position >= position) check(this.model);
    else this.#claims.push({ position, check });
  }

  /** What is surely hidden: whoever reads from now on isn't shown it. */
  get surelyHidden(): ReadonlyMap<string, number> {
    return this.model.firstVersions;
  }

  /** What may be hidden already: by calls, too, that nobody was told the outcome of. */
  get perhapsHidden(): ReadonlyMap<string, number> {
    const hiding = this.#calls.filter((call) => call.kind === "truncate" || call.kind === "delete");
    if (hiding.length === 0 && this.#doubtful.size === 0) return this.model.firstVersions;
    const hidden = new Map(this.model.firstVersions);
    const hide = (stream: string, before: number): void =>
      void hidden.set(stream, Math.max(before, hidden.get(stream) ?? 1));
    for (const [stream, before] of this.#doubtful) hide(stream, before);
    for (const call of hiding) hide(call.stream, call.kind === "truncate" ? call.before : Infinity);
    return hidden;
  }

  /** Whether a crash took back what was seen at a position in an epoch. */
  isCut({ position, epoch }: { readonly position: number; readonly epoch: number }): boolean {
    return this.#cuts.some((cut) => cut.epoch > epoch && position > cut.position);
  }

  /** Now, or when the recovery that is under way has been looked at. */
  afterOpening(logEpoch: number, check: () => void): void {
    if (logEpoch > this.epoch) this.#afterOpening.push(check);
    else check();
  }

  /** A recovery is done, and `found` is all there is: what isn't there now is gone for good. */
  opened(found: Found): void {
    const { position, epoch } = found;
    this.#doubtful = this.#doubts();
    const hides: Call[] = [];
    for (const call of this.#calls.splice(0)) {
      if (call.answer.says !== "nothing") this.#settle(call);
      else if (call.kind === "truncate" || call.kind === "delete") hides.push(call);
      else this.#lookFor(call, found);
    }
    // The disk failed while one was written: a recovery may show it all the same.
    for (const call of this.#perhapsReclaimed.splice(0)) this.#lookFor(call, found);
    this.#checkClaims(true);
    if (position < this.firm)
      this.fail(`after recovery there are ${position} events, and ${this.firm} were acknowledged`);
    if (epoch <= this.epoch) this.fail(`the epoch is ${epoch} after recovery and was ${this.epoch} before`);
    this.epoch = Math.max(this.epoch, epoch);
    this.#cuts.push({ epoch, position });
    if (this.model.position > position) this.#cut(position);
    // They may have come before what the crash took back, and don't rest on that then.
    for (const call of hides) this.#lookFor(call, found);
    if (this.model.position < position)
      this.fail(`after recovery there are ${position} events, and nobody asked for more than ${this.model.position}`);
    this.acknowledge(position);
    this.consumers.opened(found.consumers, position);
    const wrong = differsFrom(this.model, found);
    if (wrong !== undefined) this.fail(`after recovery, ${wrong}`);
    for (const check of this.#afterOpening.splice(0)) check();
  }

  #cut(position: number): void {
    this.cutEvents += this.model.position - position;
    const model = this.model.upTo(position);
    if (model === undefined)
      this.fail(`after recovery there are ${position} events, and what was hidden rests on more`);
    else this.model = model;
  }

  #doubts(): ReadonlyMap<string, number> {
    const all = new Map(this.#doubtful);
    for (const call of this.#calls) {
      if (call.answer.says !== "nothing" || (call.kind !== "truncate" && call.kind !== "delete")) continue;
      const before = call.kind === "truncate" ? call.before : this.model.eventsOf(call.stream).length + 1;
      all.set(call.stream, Math.max(before, all.get(call.stream) ?? 1));
    }
    return all;
  }

  /** A call without an answer: what there is says whether it was done. */
  #lookFor(call: Call, found: Found): void {
    const { model } = this;
    if (call.kind === "reclaim") {
      const { firstPosition } = found;
      const most = this.model.keptAtMost(call, Infinity, Infinity);
      if (firstPosition <= model.firstPosition || firstPosition > most) return;
      model.apply({ kind: "reclaim", firstPosition });
      this.unheard++;
      return;
    }
    const verdict = model.judge(call);
    if (call.kind === "append") {
      const time = verdict.says === "append" ? found.timeOf(call, model.position + 1) : undefined;
      if (time === undefined) return;
      this.#checkTime(call.number, time);
      model.apply({ ...call, time });
      this.unheard++;
    } else if (verdict.says === "hide" && model.changes(verdict)) this.#lookForHide(call, verdict, found);
  }

  #lookForHide(call: TruncateCall | DeleteCall, verdict: Extract<Verdict, { says: "hide" }>, found: Found): void {
    const info = found.infos.get(call.stream);
    const isThere =
      call.kind === "delete"
        ? info?.isDeleted === true
        : info?.firstVersion === Math.max(verdict.firstVersion, this.model.info(call.stream).firstVersion) &&
          info.firstVersion > this.model.info(call.stream).firstVersion;
    if (!isThere) return;
    this.model.apply({ ...verdict, kind: "hide" });
    this.unheard++;
  }

  #settle(call: Call): void {
    const { answer, number } = call;
    if (answer.says === "refused" && call.kind === "reclaim") this.#perhapsReclaimed.push(call);
    if (answer.says === "refused" || answer.says === "nothing") return;
    const must = (what: unknown): string => `call ${number} (${told(call)}) must give ${JSON.stringify(what)}`;
    if (call.kind === "reclaim") return this.#settleReclaim(call);
    const verdict = this.model.judge(call);
    if (answer.says === "no") {
      const { data } = verdict as { data?: object };
      const isRight = verdict.says === "no" && verdict.code === answer.code && same(data, pick(answer.data, data));
      if (!isRight) this.fail(`${must(verdict)}, and gave ${answer.code} ${JSON.stringify(answer.data)}`);
      if (call.kind === "append" && call.isFirm)
        this.acknowledge(this.model.eventsOf(call.stream).at(-1)?.position ?? 0);
    } else if (answer.says === "info") {
      if (verdict.says !== "hide" || call.kind === "append") return this.fail(`${must(verdict)}, and was done`);
      if (this.model.changes(verdict)) {
        this.model.apply({ ...verdict, kind: "hide" });
        // What it rests on was durable before.
        this.acknowledge(this.model.position);
      }
      const info = this.model.info(call.stream);
      if (!same(info, pick(answer.info, info))) this.fail(`${must(info)}, and gave ${JSON.stringify(answer.info)}`);
    } else if (answer.says === "appended" && call.kind === "append") {
      const { result } = answer;
      if (result.isDuplicate !== (verdict.says === "duplicate") || verdict.says === "no")
        return this.fail(`${must(verdict)}, and gave ${JSON.stringify(result)}`);
      if (verdict.says === "append") this.#checkTime(number, result.time);
      const right = verdict.says === "duplicate" ? verdict.result : this.model.apply({ ...call, time: result.time });
      if (!same(right, pick(result, right))) this.fail(`${must(right)}, and gave ${JSON.stringify(result)}`);
      if (call.isFirm) this.acknowledge(result.position);
    }
  }

  #settleReclaim(call: ReclaimCall): void {
    const { answer, clock, number } = call;
    if (answer.says !== "reclaimed") return;
    const { firstPosition } = answer;
    const least = this.model.keptAtLeast(call, clock?.from ?? -Infinity, call.acknowledged);
    const most = this.model.keptAtMost(call, clock?.to ?? Infinity, call.acknowledged);
    if (firstPosition < least || firstPosition > most)
      this.fail(`call ${number} (${told(call)}) must give ${least} to ${most}, and gave ${firstPosition}`);
    if (firstPosition <= this.model.firstPosition) return;
    this.model.apply({ kind: "reclaim", firstPosition });
    this.acknowledge(this.model.position);
  }

  #checkTime(number: number, time: number): void {
    if (time < this.model.time) this.fail(`the time of call ${number} is ${time}, after ${this.model.time}`);
  }

  #checkClaims(isLast: boolean): void {
    if (this.#claims.length === 0) return;
    const claims = this.#claims;
    const { model } = this;
    this.#claims = isLast ? [] : claims.filter(({ position }) => position > model.position);
    for (const { position, check } of claims) if (position <= model.position) check(model);
  }
}

function pick(data: object, like: object | undefined): object {
  return Object.fromEntries(Object.keys(like ?? {}).map((name) => [name, data[name as keyof typeof data]]));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
