import { invalidArgument, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { AppendOptions, AppendResult, Commit, Expectation, WriteBatch } from "@ehdb/contracts";
import { appendRequest, stageRequest } from "./call-options.ts";
import type { AppendRequest, StageOptions } from "./call-options.ts";
import { dataset } from "./datasets.ts";
import { encodeEvents } from "./encoding.ts";
import type { EncodedEvent } from "./encoding.ts";
import { EventStager } from "./event-stager.ts";
import type { WritingContext } from "./log-context.ts";
import { conflict, idReused } from "./refusals.ts";
import { repeatedAt, repeatedInPlace } from "./repeated-append.ts";
import { isDeleted } from "./stream-facts.ts";

const anything: AppendRequest = { expect: "any", signal: undefined };
const noId = (): string => "";

/** Appends: from the call to its answer. In the usual case without a look at anything before the engine has it. */
export class Appends {
  readonly #context: WritingContext;
  readonly #stager: EventStager;

  constructor(context: WritingContext) {
    this.#context = context;
    this.#stager = new EventStager(context.host.random);
  }

  /** Not an async function: a promise an append beside the engine's is enough. */
  append(stream: string, given: unknown, options: AppendOptions | undefined): Promise<AppendResult> {
    try {
      const { schemas, line } = this.#context;
      this.#context.assertOpen();
      const request = options === undefined ? anything : appendRequest(options);
      const events = encodeEvents(stream, given, schemas, noId);
      throwIfAborted(request.signal, "append()");
      const expectation = line.isFree ? this.#expectation(stream, request.expect) : undefined;
      if (expectation !== undefined) return this.#commit(stream, events, request, expectation);
      return line.take(
        async (pass) => {
          const expectation = await this.#lookedUp(stream, request.expect);
          const answer = this.#commit(stream, events, request, expectation);
          pass();
          return await answer;
        },
        request.signal,
        "append()",
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** States an append in somebody else's batch, which conflicts when what is known of deletions isn't so any more. */
  stage(batch: WriteBatch, stream: string, given: unknown, options: StageOptions | undefined): void {
    this.#context.assertOpen();
    if (typeof (Object(batch) as Partial<WriteBatch>).appendAll !== "function")
      throw invalidArgument("batch", batch, "the batch that commit() gives to its function");
    const { expect } = stageRequest(options);
    const events = encodeEvents(stream, given, this.#context.schemas, noId);
    const expectation = this.#expectation(stream, expect);
    this.#stager.stage(batch, stream, events);
    if (expect === "none" || expect === "exists") {
      const revision = this.#context.streams.peek(stream)?.revision ?? 0;
      batch.expect(dataset.streams, stream, revision === 0 || expectation === undefined ? "none" : revision);
    }
    batch.expect(dataset.events, stream, expectation ?? expect);
  }

  /** What the engine is to expect of the stream's version, so that it is as is wanted; `undefined`: something must be looked up first. */
  #expectation(stream: string, expect: Expectation): Expectation | undefined {
    if (expect !== "none" && expect !== "exists") return expect;
    const facts = this.#context.streams.peek(stream);
    if (facts === undefined) return undefined;
    if (facts.deletedAt === 0) return expect;
    // Versions only rise: it's deleted exactly as long as it's at this one.
    if (expect === "none") return facts.deletedAt;
    return facts.isBack ? "exists" : undefined;
  }

  async #lookedUp(stream: string, expect: Expectation): Promise<Expectation> {
    const { streams, inFlight, events } = this.#context;
    const facts = await streams.load(stream);
    const known = this.#expectation(stream, expect);
    if (known !== undefined) return known;
    // `exists`, and it was deleted: what was appended since says whether it still is.
    await inFlight.drained();
    const version = await events.version(stream);
    facts.isBack = !isDeleted(facts, version);
    return facts.isBack ? "exists" : version + 1;
  }

  #commit(
    stream: string,
    events: readonly EncodedEvent[],
    request: AppendRequest,
    expectation: Expectation,
  ): Promise<AppendResult> {
    const { signal } = request;
    const stage = this.#stage(stream, events, expectation);
    const committed = this.#context.engine.commit(stage, signal === undefined ? undefined : { signal });
    return this.#answer(committed, stream, request, events.every(({ isIdGiven }) => isIdGiven) ? events : undefined);
  }

  #stage(stream: string, events: readonly EncodedEvent[], expectation: Expectation): (batch: WriteBatch) => void {
    return (batch) => {
      if (expectation !== "any") batch.expect(dataset.events, stream, expectation);
      this.#stager.stage(batch, stream, events);
    };
  }

  /**
   * `repeatable`: the events, when they may have been appended before. Others are let go of: many appends wait for the disk at once, and
   * what they hold is copied by each garbage collection.
   */
  #answer(
    committed: Promise<Commit>,
    stream: string,
    request: AppendRequest,
    repeatable: readonly EncodedEvent[] | undefined,
  ): Promise<AppendResult> {
    const { inFlight } = this.#context;
    inFlight.begin();
    return committed.then(
      (commit) => {
        inFlight.end();
        return resultOf(commit);
      },
      (error: unknown) => this.#refused(error, stream, request, repeatable).finally(() => inFlight.end()),
    );
  }

  /** What the caller is told when the engine refuses; the first result, when that is because these very events are there. */
  async #refused(
    error: unknown,
    stream: string,
    { expect }: AppendRequest,
    repeatable: readonly EncodedEvent[] | undefined,
  ): Promise<AppendResult> {
    if (isEhdbError(error, "ID_REUSED")) {
      const { version, id } = error.data;
      const known = repeatable && (await repeatedAt(this.#context, stream, repeatable, Number(version)));
      if (known !== undefined) return known;
      throw idReused(stream, String(id));
    }
    if (!isEhdbError(error, "CONFLICT")) throw error;
    const facts = await this.#context.streams.load(stream);
    const actual = Number(error.data["actual"]);
    const known = repeatable && (await repeatedInPlace(this.#context, stream, repeatable, expect, actual, facts));
    if (known !== undefined) return known;
    throw conflict(stream, expect, actual, isDeleted(facts, actual));
  }
}

function resultOf({ appended, time, isDuplicate }: Commit): AppendResult {
  const first = appended[0] as Commit["appended"][number];
  const last = appended[appended.length - 1] as Commit["appended"][number];
  return {
    firstVersion: first.version,
    version: last.version,
    firstPosition: first.sort,
    position: last.sort,
    time,
    isDuplicate,
  };
}
