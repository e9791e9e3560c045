import { EhdbError, isEhdbError, KIB, MIB } from "@ehdb/contracts";
import type { DatasetSpec } from "@ehdb/contracts";
import type { ReadOnlyJournal } from "@ehdb/journal";
import { isSameCopy } from "../manifest/copy-mark.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import type { ManifestState } from "../manifest/state.ts";
import { isMissingPart } from "../part/part-damage.ts";
import { replayJournal } from "../replay-journal.ts";
import { Store } from "../store.ts";
import type { Parts } from "../view.ts";
import type { EngineReaderStats } from "./api.ts";
import { assertMeets } from "./journal-beside.ts";
import { ManifestWatch } from "./manifest-watch.ts";
import { Moment } from "./moment.ts";
import type { ResolvedReaderOptions } from "./options.ts";
import { PartShelf } from "./part-shelf.ts";

/** Looks at files that a writer replaces meanwhile; each try begins again. */
const mostTries = 16;
/** As a writer's own: what isn't in parts is bounded by it. */
const fullness = { sealMaxBytes: 8 * MIB, sealMaxCommits: 64 * KIB };

/** A part of the moment that is read was merged into another; or another copy of the store took the place of the one that it was of. */
export type Overtaken = "merged" | "replaced";

/** What a store holds, as far as a reader beside its writer has seen: look by look. */
export class FollowedStore {
  readonly #options: ResolvedReaderOptions;
  readonly #openJournal: () => Promise<ReadOnlyJournal>;
  /** `undefined` before the first look at a copy of the store. */
  #journal: ReadOnlyJournal | undefined;
  #manifests: ManifestWatch;
  /** The last that was seen of the copy that is followed. */
  #seen: ReadManifest;
  #manifest: ReadManifest | undefined;
  #shelf: PartShelf;
  #parts: Parts | undefined;
  #store: Store | undefined;
  #moment: Moment | undefined;
  #held: Set<Moment> = new Set();
  /** By dataset, the highest that was seen. */
  readonly #floors: Map<number, number> = new Map();
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `first` is what the manifest said before. */
  constructor(options: ResolvedReaderOptions, first: ReadManifest, openJournal: () => Promise<ReadOnlyJournal>) {
    this.#options = options;
    this.#openJournal = openJournal;
    this.#seen = first;
    this.#manifests = new ManifestWatch(options.host, options.dir);
    this.#shelf = new PartShelf(options);
  }

  /** After the first look. */
  get moment(): Moment {
    return this.#moment as Moment;
  }

  get state(): ManifestState {
    return this.#seen.state;
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
    const { shelf } = moment;
    if (shelf !== this.#shelf) await this.#closeUnread(shelf);
    else await this.#freeParts();
  }

  /** Why a read of a moment failed that had been fine by what is there now; `undefined`: it isn't. */
  async whyOvertaken(error: unknown, { shelf }: Moment): Promise<Overtaken | undefined> {
    if (!isEhdbError(error, "CORRUPT", "KEY_MISSING", "WRONG_KEY", "UNSUPPORTED_VERSION")) return undefined;
    await this.look();
    if (shelf !== this.#shelf) return "replaced";
    return isMissingPart(error) && !shelf.isNamed(error.data["file"]) ? "merged" : undefined;
  }

  stats(): EngineReaderStats {
    // Of the moment, as all that is read: while a look is under way the manifest is further than what is in memory.
    const { moment } = this;
    const { view, revision } = moment;
    const [oldest] = view.generations;
    const unsealedCommits = Math.max(0, revision + 1 - (oldest?.firstRevision ?? revision + 1));
    const datasets = moment.partsByDataset();
    return {
      parts: Object.values(datasets).reduce((sum, { parts }) => sum + parts, 0),
      datasets,
      sealedThrough: revision - unsealedCommits,
      unsealedCommits,
      unsealedBytes: view.generations.reduce((sum, { chunks }) => sum + chunks.bytes, 0),
      blockCacheBytes: this.#shelf.cachedBytes,
    };
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#looking)?.catch(() => undefined);
    const shelves = [this.#shelf, this.#moment?.shelf, ...[...this.#held].map(({ shelf }) => shelf)];
    for (const shelf of new Set(shelves)) await shelf?.close();
    await this.#journal?.close();
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
        const journal = await this.#refreshed();
        const manifest = await this.#manifests.read();
        if (isSameCopy(this.#seen, manifest)) return await this.#take(manifest, journal);
        // What was looked at before it may be the other copy's.
        await this.#beginAnew(manifest);
      } catch (error) {
        this.#store = undefined;
        const other = isEhdbError(error, "CLOSED") ? undefined : await this.#findOther();
        if (other !== undefined) await this.#beginAnew(other);
        // The writer has sealed and dropped on while it was read.
        else if (!isEhdbError(error, "COMPACTED")) throw error;
        if (tries === mostTries) throw error;
        await this.#options.host.clock.yield();
      }
    }
  }

  async #refreshed(): Promise<ReadOnlyJournal> {
    if (this.#journal === undefined) this.#journal = await this.#openJournal();
    else await this.#journal.refresh();
    return this.#journal;
  }

  async #take(manifest: ReadManifest, journal: ReadOnlyJournal): Promise<void> {
    const { state } = manifest;
    const { host } = this.#options;
    const before = this.#manifest?.state;
    const last = Math.max(journal.last, state.sealedThrough);
    // An edit that was seen before its sync, which failed: what it sealed is durable, and the journal will state it.
    if (this.#moment?.shelf === this.#shelf && last < this.#moment.revision) return;
    const isNew = this.#manifest !== manifest || this.#parts === undefined;
    if (isNew) this.#parts = this.#shelf.take(state);
    this.#manifest = manifest;
    this.#seen = manifest;
    const store =
      this.#store !== undefined && goesOn(this.#store, before, state, last) ? this.#store : this.#begin(state);
    assertMeets(journal, state);
    await replayJournal({ host, journal, fullness }, store, journal.last);
    // In one step with the moment that has it: a log's floor is what its reads go by.
    takeOver(state, store, this.#floors);
    this.#store = store;
    const epoch = Math.max(journal.epoch, state.epoch);
    const { moment } = this;
    if (moment?.store === store && moment.parts === this.#parts && moment.revision === last && moment.epoch === epoch)
      return;
    this.#moment = new Moment(last, epoch, store, this.#parts as Parts, this.#shelf);
    if (moment !== undefined && moment.shelf !== this.#shelf) await this.#closeUnread(moment.shelf);
    await this.#freeParts();
  }

  #begin({ datasets, sealedThrough }: ManifestState): Store {
    const metas = [...datasets.values()];
    const wanted = this.#options.datasets ?? metas;
    for (const spec of wanted) assertHas(spec, metas, this.#options.dir);
    return new Store(metas, wanted, { logs: new Map(), maps: new Map() }, sealedThrough + 1);
  }

  /** What another copy of the store says that was put in the place of the one that is followed; `undefined` when there is none to be read. */
  async #findOther(): Promise<ReadManifest | undefined> {
    try {
      const { host, dir } = this.#options;
      const found = await readManifest({ host, dir });
      return isSameCopy(this.#seen, found) ? undefined : found;
    } catch {
      return undefined;
    }
  }

  /** Another copy of the store was put in its place: what has the same number there isn't the same part, or the same segment. */
  async #beginAnew(other: ReadManifest): Promise<void> {
    await this.#journal?.close();
    this.#journal = undefined;
    this.#manifests = new ManifestWatch(this.#options.host, this.#options.dir);
    this.#manifest = undefined;
    this.#seen = other;
    // A copy that nobody has read from yet can be replaced, too.
    if (this.#shelf !== this.#moment?.shelf) await this.#shelf.close();
    this.#shelf = new PartShelf(this.#options);
    this.#store = undefined;
    this.#parts = undefined;
    this.#floors.clear();
  }

  async #closeUnread(shelf: PartShelf): Promise<void> {
    if ([...this.#held].every((held) => held.shelf !== shelf)) await shelf.close();
  }

  async #freeParts(): Promise<void> {
    if ([...this.#held].every((held) => held.parts === this.moment.parts)) await this.#shelf.letGo();
  }
}

/** Whether what is in memory is still what isn't in parts, and the beginning of it. */
function goesOn(store: Store, before: ManifestState | undefined, after: ManifestState, last: number): boolean {
  return (
    before?.sealedThrough === after.sealedThrough &&
    before.datasets.size === after.datasets.size &&
    // An import gives positions without a commit.
    [...after.datasets.values()].every(({ id, nextSort }) => before.datasets.get(id)?.nextSort === nextSort) &&
    store.accepted <= last
  );
}

/** What edits change of a dataset besides its parts. A floor that was seen before its edit was synced stays, also when the sync failed. */
function takeOver({ datasets }: ManifestState, { byId }: Store, floors: Map<number, number>): void {
  for (const { id, cuts, floor } of datasets.values()) {
    floors.set(id, Math.max(floor, floors.get(id) ?? 0));
    const dataset = byId.get(id);
    if (dataset !== undefined) Object.assign(dataset, { cuts, floor: floors.get(id) });
  }
}

function assertHas({ name, order }: DatasetSpec, has: readonly DatasetSpec[], dir: string): void {
  const stored = has.find((one) => one.name === name);
  if (stored?.order === order) return;
  const names = has.map((one) => `${one.name} (${one.order})`).join(", ");
  const message = `${dir} holds no dataset ${name} that is ${order}; it holds ${names === "" ? "none" : names}`;
  throw new EhdbError("INVALID_OPTION", message, { option: "datasets", dataset: name, stored: stored?.order });
}
