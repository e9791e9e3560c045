import type { Host } from "@ehdb/host";
import { isAbsent } from "./disk-error.ts";
import { manifestPath } from "./layout.ts";

/** The manifests that aren't in force any more, or never were: the newest are kept to be looked at. They hold no parts back. */
export class RetainedManifests {
  readonly #host: Host;
  readonly #dir: string;
  readonly #retain: number;
  #ids: number[];

  /** `retain` 0 keeps all. */
  constructor(host: Host, dir: string, retain: number, ids: readonly number[]) {
    this.#host = host;
    this.#dir = dir;
    this.#retain = retain;
    this.#ids = [...ids];
  }

  /** Rising. */
  get ids(): readonly number[] {
    return this.#ids;
  }

  add(id: number): void {
    this.#ids.push(id);
  }

  /** `inForce` took the place of `before`, which is 0 in a new store. */
  replace(before: number, inForce: number): void {
    this.#ids = this.#ids.filter((id) => id !== inForce);
    if (before > 0) this.#ids.push(before);
    this.#ids.sort((a, b) => a - b);
  }

  /** Removes what is too many. To be called only when CURRENT durably names another one. What can't be removed is tried again the next time. */
  async prune(): Promise<{ pruned: number; errors: number }> {
    const tooMany = this.#retain === 0 ? [] : this.#ids.slice(0, -this.#retain);
    const kept = new Set(this.#ids);
    let [pruned, errors] = [0, 0];
    for (const id of tooMany) {
      try {
        await this.#host.files.remove(manifestPath(this.#dir, id));
        pruned++;
      } catch (error) {
        if (!isAbsent(error)) {
          errors++;
          continue;
        }
      }
      kept.delete(id);
    }
    this.#ids = this.#ids.filter((id) => kept.has(id));
    return { pruned, errors };
  }
}
