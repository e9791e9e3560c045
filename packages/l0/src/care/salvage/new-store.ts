import { EhdbError } from "@ehdb/contracts";
import type { DatasetOrder } from "@ehdb/contracts";
import { markCopy } from "../../manifest/copy-mark.ts";
import { brokenBySnapshot } from "../../manifest/invariants.ts";
import { putInForce } from "../../manifest/standalone.ts";
import { LiveState } from "../../manifest/state.ts";
import { newDataset } from "../../meta.ts";
import type { DatasetMeta, PartMeta } from "../../meta.ts";
import type { StoreDamage } from "../damage.ts";
import type { SavedCommits } from "./commit-parts.ts";
import type { FoundParts } from "./find-parts.ts";
import type { KnownStore } from "./known-store.ts";
import type { StoreLoss } from "./loss.ts";
import type { PartMaking } from "./part-sink.ts";
import type { Salvaging } from "./salvage-store.ts";

/** The store that a salvage makes, as it comes about. */
export class NewStore {
  readonly damage: StoreDamage[] = [];
  readonly lost: StoreLoss[] = [];
  readonly parts: PartMeta[] = [];
  readonly making: PartMaking;
  readonly #covered: PartMeta[] = [];
  readonly #salvaging: Salvaging;
  readonly #known: KnownStore;
  readonly #state: LiveState;
  #nextPartId: number;

  constructor(salvaging: Salvaging, known: KnownStore) {
    const { host, directory, encryption } = salvaging;
    this.#salvaging = salvaging;
    this.#known = known;
    this.#state = known.state?.copy() ?? new LiveState(host.random.id(), host.random.id());
    this.#nextPartId = this.#state.nextPartId;
    this.damage.push(...known.losses);
    this.making = {
      host,
      directory,
      encryption,
      compression: "none",
      takeId: () => this.#nextPartId++,
    };
  }

  /** Commits up to this one were in parts. */
  get sealedThrough(): number {
    return this.#state.sealedThrough;
  }

  /** What a seal writes it writes of all datasets: a manifest that isn't the last one may not know it. */
  found({ chosen }: FoundParts): void {
    for (const { meta } of chosen) {
      this.#nextPartId = Math.max(this.#nextPartId, meta.id + 1);
      this.#state.sealedThrough = Math.max(this.#state.sealedThrough, meta.lastRevision);
    }
  }

  nameOf(dataset: number): string {
    return this.#state.datasets.get(dataset)?.name ?? `dataset-${dataset}`;
  }

  /** Whether what a dataset has of a commit is in a part that was saved, or was lost with one. */
  isInPart(dataset: number, revision: number): boolean {
    return this.#covered.some(
      (meta) => meta.dataset === dataset && meta.firstRevision <= revision && revision <= meta.lastRevision,
    );
  }

  /** What this part covered comes from it alone. */
  covers(meta: PartMeta): void {
    this.#covered.push(meta);
  }

  /** All parts are there. Returns the last commit and the epoch of the old store, as far as they're known. */
  complete(saved: SavedCommits | undefined, lastCommit: number): { readonly revision: number; readonly epoch: number } {
    const state = this.#state;
    const metas = [...this.parts, ...this.#covered];
    for (const { dataset, lastSort, erasures } of metas)
      this.#grow(dataset, lastSort > 0 || erasures > 0 ? "by-sort" : "by-key", lastSort);
    for (const [dataset, { order, lastSort }] of saved?.datasets ?? []) this.#grow(dataset, order, lastSort);
    const revision = Math.max(state.sealedThrough, lastCommit, ...metas.map((meta) => meta.lastRevision));
    const time = Math.max(state.time, saved?.time ?? 0, ...metas.map(({ lastTime }) => lastTime));
    state.parts.clear();
    for (const meta of this.parts.toSorted(
      (a, b) => a.firstRevision - b.firstRevision || a.firstSort - b.firstSort || a.id - b.id,
    ))
      state.parts.set(meta.id, meta);
    for (const meta of state.datasets.values()) {
      const lastRevision = Math.max(
        meta.lastRevision,
        ...metas.flatMap((part) => (part.dataset === meta.id ? part.lastRevision : [])),
      );
      state.datasets.set(meta.id, { ...meta, lastRevision });
    }
    state.sealedThrough = revision;
    state.time = time;
    state.nextPartId = this.#nextPartId;
    state.epoch = Math.max(state.epoch, saved?.epoch ?? 0);
    return { revision, epoch: state.epoch };
  }

  async putInForce(): Promise<void> {
    const { host, directory } = this.#salvaging;
    const state = this.#state;
    const { parts, ...rest } = state.snapshot();
    const broken = brokenBySnapshot(new LiveState(state.store, state.incarnation), { ...rest, add: parts });
    if (broken !== undefined)
      throw new EhdbError("UNEXPECTED", `what was saved isn't a store (${broken}): report it with this message`, {});
    markCopy(state, { epoch: state.epoch, revision: state.sealedThrough, millis: host.clock.now() });
    await putInForce(host, directory, this.#known.manifestId, state);
  }

  /** A dataset whose name nobody knows any more gets one. */
  #grow(id: number, order: DatasetOrder, lastSort: number): void {
    const before: DatasetMeta = this.#state.datasets.get(id) ?? newDataset(id, this.nameOf(id), order);
    this.#state.datasets.set(id, { ...before, nextSort: Math.max(before.nextSort, lastSort + 1) });
  }
}
