import { isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { AppendOptions, Expectation, StreamInfo, WriteBatch } from "@ehdb/contracts";
import { appendRequest } from "./call-options.ts";
import { dataset } from "./datasets.ts";
import type { WritingContext } from "./log-context.ts";
import { assertName, assertSequence } from "./names.ts";
import { beyondTheStream, conflict } from "./refusals.ts";
import { encodeFacts, isDeleted } from "./stream-facts.ts";
import type { StreamFacts } from "./stream-facts.ts";
import { streamInfo, streamState } from "./stream-info.ts";

/** What a stream is like, and hiding of its events. */
export class Streams {
  readonly #context: WritingContext;

  constructor(context: WritingContext) {
    this.#context = context;
  }

  async info(stream: string): Promise<StreamInfo> {
    this.#context.assertOpen();
    assertName("stream", stream);
    return await streamInfo(this.#context, stream);
  }

  async truncate(stream: string, beforeVersion: number): Promise<StreamInfo> {
    const { line } = this.#context;
    this.#context.assertOpen();
    assertName("stream", stream);
    assertSequence("beforeVersion", beforeVersion, 1);
    return await line.take(() => this.#truncate(stream, beforeVersion), undefined, "truncateStream()");
  }

  async delete(stream: string, options: AppendOptions | undefined): Promise<StreamInfo> {
    const { line } = this.#context;
    this.#context.assertOpen();
    assertName("stream", stream);
    const { expect, signal } = appendRequest(options);
    throwIfAborted(signal, "deleteStream()");
    return await line.take(() => this.#delete(stream, expect), signal, "deleteStream()");
  }

  async #truncate(stream: string, beforeVersion: number): Promise<StreamInfo> {
    await this.#context.inFlight.drained();
    for (;;) {
      const { version, facts } = await streamState(this.#context, stream);
      if (beforeVersion > version + 1) throw beyondTheStream(stream, beforeVersion, version);
      if (beforeVersion > facts.firstVersion) {
        const isDone = await this.#change(stream, facts, { ...facts, firstVersion: beforeVersion }, undefined);
        if (!isDone) continue;
      }
      return await streamInfo(this.#context, stream);
    }
  }

  async #delete(stream: string, expect: Expectation): Promise<StreamInfo> {
    await this.#context.inFlight.drained();
    for (;;) {
      const { version, facts } = await streamState(this.#context, stream);
      const isGone = isDeleted(facts, version);
      if (!holds(expect, version, isGone)) throw conflict(stream, expect, version, isGone);
      if (version > 0 && !isGone) {
        const isDone = await this.#change(stream, facts, { firstVersion: version + 1, deletedAt: version }, version);
        if (!isDone) continue;
      }
      return await streamInfo(this.#context, stream);
    }
  }

  /** First durable, then true. False when somebody else's commit has appended to the stream meanwhile. */
  async #change(
    stream: string,
    before: StreamFacts,
    after: Pick<StreamFacts, "firstVersion" | "deletedAt">,
    version: number | undefined,
  ): Promise<boolean> {
    const { engine, streams } = this.#context;
    const stage = (batch: WriteBatch): void => {
      if (version !== undefined) batch.expect(dataset.events, stream, version);
      batch.expect(dataset.streams, stream, before.revision === 0 ? "none" : before.revision);
      batch.put(dataset.streams, stream, encodeFacts(after));
      batch.erase(dataset.events, stream, after.firstVersion);
    };
    streams.changing(stream);
    try {
      await engine.commit(stage);
      await engine.flush();
      return true;
    } catch (error) {
      if (isEhdbError(error, "CONFLICT")) return false;
      throw error;
    } finally {
      streams.changing(stream);
    }
  }
}

function holds(expect: Expectation, version: number, isGone: boolean): boolean {
  const exists = version > 0 && !isGone;
  if (expect === "any") return true;
  if (expect === "none") return !exists;
  if (expect === "exists") return exists;
  return version === expect;
}
