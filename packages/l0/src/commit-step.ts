import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Appended, Commit, Expectation } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import type { EngineTime, Journal } from "@ehdb/journal";
import type { Acknowledgements } from "./acknowledgements.ts";
import { offsetOf, placeAt } from "./chunks.ts";
import type { CommitStep as Step } from "./commit-line.ts";
import type { Counters } from "./counters.ts";
import type { Dataset } from "./dataset.ts";
import { COMMIT_FORMAT, COMMIT_HEADER_BYTES, isOfLog, operation, writeOp } from "./envelope.ts";
import { unknownId } from "./heads.ts";
import { MOST_SORT } from "./import/imported-op.ts";
import type { Heads } from "./heads.ts";
import type { KnownId } from "./log-table.ts";
import type { StagedBatch, StagedOp } from "./staged-batch.ts";
import type { Store } from "./store.ts";
import type { Write } from "./write.ts";

const loadsAtOnce = 256;

/** What the step needs of the engine around it. */
export interface CommitContext {
  readonly journal: Journal;
  readonly time: EngineTime;
  readonly heads: Heads;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly acknowledgements: Acknowledgements;
  readonly store: Store;
  /** Throws when the engine takes no commits. */
  assertTakes(): void;
  /** Freezes the active generation when it's full. */
  accepted(): void;
  /** What to wait for when too many generations wait to be sealed; throws when sealing fails. */
  room(): Promise<void> | undefined;
}

/**
 * The one place where commits are checked, minted and put in their place, in one turn of the loop: nothing can come between a check
 * and what it allows. What isn't in memory is loaded first.
 */
export class CommitStep implements Step {
  readonly #context: () => CommitContext;

  constructor(context: () => CommitContext) {
    this.#context = context;
  }

  attempt(write: Write): Promise<void> | undefined {
    const context = this.#context();
    try {
      context.assertTakes();
      assertNotImported(context, write);
      const load = missing(context, write);
      if (load !== undefined) return load;
      const room = context.room();
      if (room !== undefined) return room;
      const repeated = repeatedCommit(context, write);
      if (repeated instanceof EhdbError) {
        this.#answer(context, write, () => write.reject(repeated));
        return undefined;
      }
      if (repeated !== undefined) {
        context.counters.dedupe_hits++;
        this.#answer(context, write, () => write.resolve(repeated));
        return undefined;
      }
      const conflict = conflictOf(context, write);
      if (conflict !== undefined) {
        context.counters.conflicts++;
        this.#answer(context, write, () => write.reject(conflict));
        return undefined;
      }
      return this.#take(context, write);
    } catch (error) {
      write.reject(error);
      return undefined;
    }
  }

  prefetch(write: Write): void {
    // Whoever needs it meets the error.
    void missing(this.#context(), write)?.catch(() => undefined);
  }

  /** Mints and places; or says what to wait for, and has changed nothing. */
  #take(context: CommitContext, write: Write): Promise<void> | undefined {
    const { store, journal, counters } = context;
    const { batch } = write;
    const { active } = store;
    const time = context.time.now();
    mint(batch);
    const place = active.chunks.reserve(batch.bytes);
    const buffer = active.chunks.buffer(place);
    const start = offsetOf(place);
    encode(buffer, start, time, batch);
    let revision: number;
    try {
      revision = journal.append(buffer.subarray(start, start + batch.bytes));
    } catch (error) {
      active.chunks.release(batch.bytes);
      if (isEhdbError(error, "QUEUE_FULL")) return journal.ready(batch.bytes);
      counters.ingest_append_failed++;
      throw error;
    }
    write.taken();
    if (active.commits.add(place, batch.bytes) !== revision) {
      throw new EhdbError(
        "UNEXPECTED",
        `the journal gave sequence ${revision}, where ${active.lastRevision} comes next`,
        { revision },
      );
    }
    const appended: Appended[] = [];
    for (const op of batch.ops) {
      const at = placeAt(place, op.offset);
      if (op.operation === operation.append) {
        appended.push({ sort: op.sort, version: op.version });
        active.addAppend(op.to, at, revision, op.key, op.version, op.id);
      } else if (op.operation === operation.erase) active.addErasure(op.to);
      else active.addWrite(op.to, at, revision, op.key);
    }
    counters.commits++;
    counters.appends += batch.ops.length;
    write.answersAt(revision, { revision, time, appended, isDuplicate: false });
    context.acknowledgements.wait(write);
    context.accepted();
    return undefined;
  }

  /** Answers once nothing that the answer may rest on can be lost any more. */
  #answer({ acknowledgements, store }: CommitContext, write: Write, answer: () => void): void {
    write.taken();
    write.answersAt(store.accepted, answer);
    acknowledgements.wait(write);
  }
}

/** What an import brings is all that its log has, until it's done. */
function assertNotImported({ store: { importing } }: CommitContext, { batch }: Write): void {
  if (importing.size === 0) return;
  const op = batch.ops.find(({ to }) => importing.has(to));
  if (op !== undefined) throw isImporting(op.to);
}

export function isImporting({ name }: Dataset): EhdbError {
  const message = `${name} is being imported, and takes nothing else meanwhile. Wait until that is done`;
  return new EhdbError("LOCKED", message, { dataset: name });
}

/** Finds the heads, and loads what of heads and ids isn't in memory; `undefined` when all is. */
function missing({ heads, clock }: CommitContext, { batch, loaded }: Write): Promise<void> | undefined {
  let loads: (() => Promise<void>)[] | undefined;
  let before: StagedOp | undefined;
  for (const op of batch.ops) {
    if (!isOfLog(op.operation)) continue;
    const { to, key, id } = op;
    if (before !== undefined && before.to === to && before.key === key) op.head = before.head;
    else {
      const head = heads.head(to, key, loaded);
      if (head === undefined) (loads ??= []).push(() => heads.loadHead(to, key, loaded));
      else op.head = head;
    }
    before = op;
    if (id !== undefined && heads.findId(to, key, id, loaded) === undefined)
      (loads ??= []).push(() => heads.loadId(to, key, id, loaded));
  }
  for (const { to, key, expectation } of batch.expectations) {
    if (expectation !== "any" && heads.head(to, key, loaded) === undefined)
      (loads ??= []).push(() => heads.loadHead(to, key, loaded));
  }
  return loads === undefined ? undefined : loadAll(clock, loads);
}

/** A batch may have many ids, and most of what they need is in memory as soon as the first ones have it: then nothing would let go of the loop. */
async function loadAll(clock: Clock, loads: readonly (() => Promise<void>)[]): Promise<void> {
  for (let begun = 0; begun < loads.length; begun += loadsAtOnce) {
    if (begun > 0) await clock.yield();
    await Promise.all(loads.slice(begun, begun + loadsAtOnce).map((load) => load()));
  }
}

/**
 * The answer of the commit that wrote all of the batch's appends before, when there is one. ID_REUSED when an id is known in any other way.
 */
function repeatedCommit({ heads }: CommitContext, { batch: { ops }, loaded }: Write): Commit | EhdbError | undefined {
  if (!ops.some(({ id }) => id !== undefined)) return undefined;
  const appends = ops.filter((op) => op.operation === operation.append);
  const found = appends.map(({ to, key, id }) => (id === undefined ? unknownId : heads.findId(to, key, id, loaded)));
  const place = found.findIndex((known) => known !== unknownId && known !== undefined);
  if (place < 0) return undefined;
  const first = found[place] as KnownId;
  const appended: Appended[] = [];
  for (const [i, known] of found.entries()) {
    const how = difference(appends[i] as StagedOp, known, first);
    if (how !== undefined) return reused(appends[place] as StagedOp, first, how);
    appended.push({ sort: (known as KnownId).sort, version: (known as KnownId).version });
  }
  if (!isInOrder(appends, appended)) return reused(appends[place] as StagedOp, first, "in another order");
  return { revision: first.revision, time: first.time, appended, isDuplicate: true };
}

function difference(op: StagedOp, known: KnownId | null | undefined, first: KnownId): string | undefined {
  if (known === unknownId || known === undefined) return "in other company";
  if (known.revision !== first.revision) return "by another commit than others of this batch";
  return Buffer.compare(known.hash, op.hash) === 0 ? undefined : "with other content";
}

/** In each dataset the positions rise as they did. */
function isInOrder(appends: readonly StagedOp[], appended: readonly Appended[]): boolean {
  const lasts = new Map<Dataset, number>();
  return appends.every(({ to }, i) => {
    const { sort } = appended[i] as Appended;
    const rises = sort > (lasts.get(to) ?? 0);
    lasts.set(to, sort);
    return rises;
  });
}

function reused(op: StagedOp, found: KnownId, how: string): EhdbError {
  const { key, id, to } = op;
  const message = `an id of this batch (${JSON.stringify(id)}, key ${JSON.stringify(key)}) was committed before, at position ${found.sort} of ${to.name}, ${how}. Repeat a batch as it was, or give new ids`;
  return new EhdbError("ID_REUSED", message, { dataset: to.name, key, id, sort: found.sort, version: found.version });
}

function conflictOf({ heads }: CommitContext, { batch, loaded }: Write): EhdbError | undefined {
  for (const { to, key, expectation } of batch.expectations) {
    if (expectation === "any") continue;
    const actual = heads.head(to, key, loaded) as number;
    if (holds(expectation, actual)) continue;
    const what = to.order === "by-sort" ? "version" : "revision";
    const message = `${to.name} ${JSON.stringify(key)} was expected to be at ${what} ${expectation}, and is at ${actual}. Read it, decide again, and retry`;
    return new EhdbError("CONFLICT", message, { dataset: to.name, key, expected: expectation, actual });
  }
  return undefined;
}

function holds(expectation: Exclude<Expectation, "any">, actual: number): boolean {
  if (expectation === "none") return actual === 0;
  if (expectation === "exists") return actual > 0;
  return actual === expectation;
}

/** Gives each append its version and its place in its log. */
function mint({ ops }: StagedBatch): void {
  if (ops.length === 1 && ops[0]?.operation === operation.append) {
    const [op] = ops;
    op.version = op.head + 1;
    op.sort = op.to.nextSort;
    assertWithinNumbers(op);
    return;
  }
  const sorts = new Map<Dataset, number>();
  const versions = new Map<Dataset, Map<string, number>>();
  for (const op of ops) {
    const { to, key } = op;
    // It reaches no record that is still to come.
    if (op.operation === operation.erase) op.version = Math.min(op.version, op.head + 1);
    if (op.operation !== operation.append) continue;
    let ofLog = versions.get(to);
    if (ofLog === undefined) versions.set(to, (ofLog = new Map<string, number>()));
    op.version = (ofLog.get(key) ?? op.head) + 1;
    ofLog.set(key, op.version);
    op.sort = sorts.get(to) ?? to.nextSort;
    sorts.set(to, op.sort + 1);
    assertWithinNumbers(op);
  }
}

/** Imports bring numbers of their own: they may have brought the last ones. */
function assertWithinNumbers({ to: { name }, key, sort, version }: StagedOp): void {
  if (sort <= MOST_SORT && version <= MOST_SORT) return;
  const what = sort > MOST_SORT ? `positions of ${name}` : `versions of ${name} ${JSON.stringify(key)}`;
  throw new EhdbError("OUT_OF_RANGE", `the ${what} have come to their end, ${MOST_SORT}`, { dataset: name, key });
}

/** Writes the commit's bytes. */
function encode(buffer: Buffer, start: number, time: number, { ops }: StagedBatch): void {
  buffer[start] = COMMIT_FORMAT;
  buffer.writeDoubleLE(time, start + 1);
  let at = start + COMMIT_HEADER_BYTES;
  for (const op of ops) {
    op.offset = at;
    at = writeOp(buffer, at, op, op.sort, op.version);
  }
}
