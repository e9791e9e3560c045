import { EhdbError, isEhdbError, KIB, MIB } from "@ehdb/contracts";
import type { DatasetSpec } from "@ehdb/contracts";
import type { ReadOnlyJournal } from "@ehdb/journal";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import type { ManifestState } from "../manifest/state.ts";
import { isMissingPart } from "../part/part-damage.ts";
import { replayJournal } from "../replay-journal.ts";
import { Store } from "../store.ts";
import type { Parts } from "../view.ts";
import type { EngineReaderStats } from "./api.ts";
import { ManifestWatch } from "./manifest-watch.ts";
import { Moment } from "./moment.ts";
import type { ResolvedReaderOptions } from "./options.ts";
import { PartShelf } from "./part-shelf.ts";

/** Looks at files that a writer replaces meanwhile; each try begins again. */
const mostTries = 16;
/** As a writer's own: what isn't in parts is bounded by it. */
const fullness = { sealMaxBytes: 8 * MIB, sealMaxCommits: 64 * KIB };

/** What a store holds, as far as a reader beside its writer has seen: look by look. */
export class FollowedStore {
  readonly #options: ResolvedReaderOptions;
  readonly #journal: ReadOnlyJournal;
  readonly #manifests: ManifestWatch;
  #manifest: ReadManifest | undefined;
  #shelf: PartShelf;
  #parts: Parts | undefined;
  #store: Store | undefined;
  #moment: Moment | undefined;
  #held: Set<Moment> = new Set();
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: ResolvedReaderOptions, journal: ReadOnlyJournal) {
    this.#options = options;
    this.#journal = journal;
    this.#manifests = new ManifestWatch(options.host, options.dir);
    this.#shelf = new PartShelf(options);
  }

  /** After the first look. */
  get moment(): Moment {
    return this.#moment as Moment;
  }

  get state(): ManifestState {
    return (this.#manifest as ReadManifest).state;
  }

  /** What was stated durable before the call is seen. Who calls while a look is under way shares the next one. */
  look(): Promise<void> {
    if (this.#looking === undefined) return this.#beginLook();
    const begin = (): Promise<void> => {
      this.#next = undefined;
      return this.#beginLook();
    };
    this.#next ??= this.#looking.then(begin, begin);
    return this.#next;
  }

  /** What there is now, kept until it's let go. */
  hold(): Moment {
    const { moment } = this;
    moment.reads++;
    this.#held.add(moment);
    return moment;
  }

  async letGo(moment: Moment): Promise<void> {
    if (--moment.reads > 0) return;
    this.#held.delete(moment);
    await this.#freeParts();
  }

  /** Whether a read failed because the writer has merged a part away: then there is a newer moment, without it. */
  async isOvertaken(error: unknown): Promise<boolean> {
    if (!isMissingPart(error)) return false;
    await this.look();
    return !this.#shelf.isNamed((error as EhdbError).data["file"]);
  }

  stats(): EngineReaderStats {
    const { view, store } = this.moment;
    const { sealedThrough, parts } = this.state;
    return {
      parts: parts.size,
      unsealedCommits: store.accepted - sealedThrough,
      unsealedBytes: view.generations.reduce((sum, { chunks }) => sum + chunks.bytes, 0),
      blockCacheBytes: this.#shelf.cachedBytes,
    };
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#looking)?.catch(() => undefined);
    await this.#shelf.close();
    await this.#journal.close();
  }

  #beginLook(): Promise<void> {
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        // In this order: what the journal has dropped, the manifest has named before.
        await this.#journal.refresh();
        const manifest = await this.#manifests.read();
        await this.#take(manifest);
        return;
      } catch (error) {
        this.#store = undefined;
        // The writer has sealed and dropped on while it was read.
        if (!isEhdbError(error, "COMPACTED") || tries === mostTries) throw error;
        await this.#options.host.clock.yield();
      }
    }
  }

  async #take(manifest: ReadManifest): Promise<void> {
    const { state } = manifest;
    const { host } = this.#options;
    const before = this.#manifest?.state;
    if (before !== undefined && before.incarnation !== state.incarnation) await this.#beginAnew();
    const isNew = this.#manifest !== manifest || this.#parts === undefined;
    if (isNew) this.#parts = this.#shelf.take(state);
    this.#manifest = manifest;
    const store = this.#store !== undefined && this.#goesOn(this.#store, before, state) ? this.#store : this.#begin();
    const revision = Math.max(this.#journal.last, state.sealedThrough);
    assertMeets(this.#journal, state);
    await replayJournal({ host, journal: this.#journal, fullness }, store, this.#journal.last);
    // In one step with the moment that has it: a log's floor is what its reads go by.
    if (isNew) takeOver(state, store);
    this.#store = store;
    const epoch = Math.max(this.#journal.epoch, state.epoch);
    const { moment } = this;
    if (
      moment?.store === store &&
      moment.parts === this.#parts &&
      moment.revision === revision &&
      moment.epoch === epoch
    )
      return;
    this.#moment = new Moment(revision, epoch, store, this.#parts as Parts);
    await this.#freeParts();
  }

  /** Whether what is in memory is still what isn't in parts, and the beginning of it. */
  #goesOn(store: Store, before: ManifestState | undefined, after: ManifestState): boolean {
    return (
      before?.sealedThrough === after.sealedThrough &&
      before.datasets.size === after.datasets.size &&
      store.accepted <= Math.max(this.#journal.last, after.sealedThrough)
    );
  }

  #begin(): Store {
    const { datasets, sealedThrough } = this.state;
    const metas = [...datasets.values()];
    const wanted = this.#options.datasets ?? metas;
    for (const spec of wanted) assertHas(spec, metas, this.#options.dir);
    return new Store(metas, wanted, { logs: new Map(), maps: new Map() }, sealedThrough + 1);
  }

  /** Another copy of the store was put in its place: what has the same number isn't the same part. */
  async #beginAnew(): Promise<void> {
    await this.#shelf.close();
    this.#shelf = new PartShelf(this.#options);
    this.#store = undefined;
    this.#parts = undefined;
  }

  async #freeParts(): Promise<void> {
    if ([...this.#held].every((held) => held.parts === this.moment.parts)) await this.#shelf.letGo();
  }
}

/** What edits change of a dataset besides its parts. */
function takeOver({ datasets }: ManifestState, { byId }: Store): void {
  for (const { id, cuts, floor } of datasets.values()) {
    const dataset = byId.get(id);
    if (dataset !== undefined) Object.assign(dataset, { cuts, floor });
  }
}

function assertMeets({ first }: ReadOnlyJournal, { sealedThrough }: ManifestState): void {
  if (first <= sealedThrough + 1) return;
  const message = `the journal begins at ${first}, and the manifest says that only commits up to ${sealedThrough} are in parts: an edit of the manifest is lost. Nothing was changed. Open a copy of the store from before`;
  throw new EhdbError("CORRUPT", message, { first, sealedThrough });
}

function assertHas({ name, order }: DatasetSpec, has: readonly DatasetSpec[], dir: string): void {
  const stored = has.find((one) => one.name === name);
  if (stored?.order === order) return;
  const names = has.map((one) => `${one.name} (${one.order})`).join(", ");
  const message = `${dir} holds no dataset ${name} that is ${order}; it holds ${names === "" ? "none" : names}`;
  throw new EhdbError("INVALID_OPTION", message, { option: "datasets", dataset: name, stored: stored?.order });
}
