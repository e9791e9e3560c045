import { isEhdbError } from "@ehdb/contracts";
import type { Commit, ConsumerGroup, FeedMessage, WriteBatch } from "@ehdb/contracts";
import type { Delivery } from "./delivery.ts";
import type { EngineFeedState } from "./engine-state.ts";
import { DurableGroup } from "./group.ts";
import type { GroupContents } from "./group-contents.ts";
import { commitKey, encodeCommit } from "./group-format.ts";

/** A group whose state is in an engine. */
export interface EngineConsumerGroup<R> extends ConsumerGroup<R> {
  /**
   * Acknowledges messages of this group with what `stage` states in a batch of the engine: one commit, all or nothing. So what is written because of a message
   * is written exactly once. LEASE_LOST and INVALID_ARGUMENT as for `ack`, before `stage` is called; else it rejects as the engine's `commit` does, and the messages are lent
   * as they were. With OUTCOME_UNKNOWN they wait for the engine's `reopen()`, which tells; none of them is delivered before. When the batch's
   * appends repeat an earlier commit (`isDuplicate`), nothing of it is written, and the messages are acknowledged by themselves.
   */
  commit(
    messages: readonly FeedMessage<R>[],
    stage: (batch: WriteBatch) => void,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Commit>;
}

/** Messages of a commit of which nobody knows what became. */
interface Doubt<R> {
  readonly deliveries: readonly Delivery<R>[];
  /** Of the state, when it was called. */
  readonly epoch: number;
}

export class EngineGroup<R> extends DurableGroup<R> implements EngineConsumerGroup<R> {
  readonly #state: EngineFeedState;
  readonly #underway = new Set<Promise<unknown>>();
  #doubts: readonly Doubt<R>[] = [];

  constructor(contents: GroupContents<R>, state: EngineFeedState) {
    super(contents);
    this.#state = state;
  }

  async commit(
    messages: readonly FeedMessage<R>[],
    stage: (batch: WriteBatch) => void,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Commit> {
    this.assertThere();
    const deliveries = this.#unacknowledged(messages);
    const { contents } = this;
    const { epoch } = this.#state;
    const value = encodeCommit(contents.generation);
    const changes = deliveries.map(({ sequence }) => ({ key: commitKey(contents.id, sequence), value }));
    for (const { message, sequence } of deliveries) {
      contents.pending.holdForCommit(message);
      contents.records.keepMark(sequence);
    }
    const commit = this.#state.commit(stage, changes, options);
    const done = commit.then(
      () => undefined,
      () => undefined,
    );
    this.#underway.add(done);
    try {
      const result = await commit;
      this.#settle(deliveries, true);
      // Marks that weren't written needn't be there: the messages are done with the next write.
      if (result.isDuplicate) await contents.save();
      return result;
    } catch (error) {
      if (isEhdbError(error, "OUTCOME_UNKNOWN")) this.#doubts = [...this.#doubts, { deliveries, epoch }];
      else this.#settle(deliveries, false);
      throw error;
    } finally {
      this.#underway.delete(done);
    }
  }

  protected override get isSettled(): boolean {
    return this.#doubts.length === 0;
  }

  protected override async beforeFetch(): Promise<void> {
    await this.#resolveDoubts();
  }

  protected override async commitsOver(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway);
    await this.#resolveDoubts();
  }

  /** INVALID_ARGUMENT, LEASE_LOST: also for one that is acknowledged, since it can't be once more. */
  #unacknowledged(messages: readonly FeedMessage<R>[]): readonly Delivery<R>[] {
    const deliveries = [...new Set(this.deliveriesOf(messages))];
    for (const delivery of deliveries) this.held(delivery);
    return deliveries;
  }

  #settle(deliveries: readonly Delivery<R>[], isCommitted: boolean): void {
    const { contents } = this;
    for (const delivery of deliveries) {
      const { message } = delivery;
      delivery.isAcknowledged = isCommitted;
      if (message.state === "committing" && isCommitted) contents.remove(message);
      else if (message.state === "committing") contents.pending.release(message);
      const { records } = contents;
      if (isCommitted && !records.doneAhead.has(message.sequence)) records.dropMark(message.sequence);
    }
    contents.waiting.tell();
    if (isCommitted) void contents.save().catch(() => undefined);
  }

  /** Once the engine has recovered, its state tells what became of commits. */
  async #resolveDoubts(): Promise<void> {
    const { contents } = this;
    for (const doubt of this.#doubts) {
      const [first] = doubt.deliveries;
      if (first === undefined || doubt.epoch === this.#state.epoch) continue;
      const mark = await this.#state.get(commitKey(contents.id, first.sequence));
      this.#doubts = this.#doubts.filter((one) => one !== doubt);
      this.#settle(doubt.deliveries, mark !== undefined);
    }
  }
}
