import type {
  Commit,
  DatasetSpec,
  Engine,
  FeedState,
  FeedStateChange,
  FeedStateEntry,
  WriteBatch,
} from "@ehdb/contracts";

const dataset = "feed.groups";

/** For the `datasets` of an engine that feeds are opened on. */
export const feedDatasets: readonly DatasetSpec[] = [{ name: dataset, order: "by-key" }];

/** The groups of one feed in a map of an engine, under keys that begin with the feed's name. */
export class EngineFeedState implements FeedState {
  readonly #engine: Engine;
  readonly #prefix: string;

  constructor(engine: Engine, feed: string) {
    this.#engine = engine;
    this.#prefix = `${feed}/`;
  }

  get epoch(): number {
    return this.#engine.epoch;
  }

  async *load(): AsyncGenerator<readonly FeedStateEntry[]> {
    for await (const records of this.#engine.map(dataset).scan({ prefix: this.#prefix }))
      yield records.map(({ key, payload }) => ({ key: key.slice(this.#prefix.length), value: payload }));
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return (await this.#engine.map(dataset).get(this.#prefix + key))?.payload;
  }

  async write(changes: readonly FeedStateChange[]): Promise<void> {
    await this.commit(() => undefined, changes);
  }

  /** Commits what `stage` states, and the changes with it. */
  async commit(
    stage: (batch: WriteBatch) => unknown,
    changes: readonly FeedStateChange[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Commit> {
    return await this.#engine.commit((batch) => {
      // What isn't allowed as a result of it, as a promise, the engine refuses.
      const result = stage(batch);
      for (const { key, value } of changes) {
        if (value === undefined) batch.delete(dataset, this.#prefix + key);
        else batch.put(dataset, this.#prefix + key, value);
      }
      return result as undefined;
    }, options);
  }
}
