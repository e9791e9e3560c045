import type { Journal } from "@ehdb/journal";
import type { EngineStats } from "./api.ts";
import type { Sealed } from "./sealed.ts";

/** What a store takes on disk, counted from what is known in memory, when what is sealed changes and not with each commit. */
export class StateGauges {
  readonly #sealed: Sealed;
  readonly #journal: Journal;
  #values: Pick<EngineStats, "parts_bytes" | "journal_bytes" | "manifest_bytes">;

  constructor(sealed: Sealed, journal: Journal) {
    this.#sealed = sealed;
    this.#journal = journal;
    this.#values = this.#counted();
    sealed.changed = () => this.refresh();
  }

  get values(): Pick<EngineStats, "parts_bytes" | "journal_bytes" | "manifest_bytes"> {
    return this.#values;
  }

  refresh(): void {
    this.#values = this.#counted();
  }

  #counted(): Pick<EngineStats, "parts_bytes" | "journal_bytes" | "manifest_bytes"> {
    let parts = 0;
    for (const { fileBytes } of this.#sealed.state.parts.values()) parts += fileBytes;
    return {
      parts_bytes: parts,
      journal_bytes: this.#journal.stats().diskBytes,
      manifest_bytes: this.#sealed.manifestStats.diskBytes,
    };
  }
}
