import { EhdbError } from "@ehdb/contracts";
import type { Dataset } from "../dataset.ts";
import { diskError } from "../manifest/disk-error.ts";
import type { LogPart } from "../part/log-part.ts";
import { importedOp } from "./imported-op.ts";
import type { ImportedOp } from "./imported-op.ts";
import type { ImportContext } from "./imports.ts";
import { KnownIds } from "./known-ids.ts";
import { KnownVersions } from "./known-versions.ts";
import { PartFilling } from "./part-filling.ts";
import { SortOrder } from "./sort-order.ts";

type Context = Pick<ImportContext, "options" | "sealed" | "hash">;

/** What an import makes of its records: parts that nothing names. In memory is one of them, and what is known of keys and ids. */
export class ImportedParts {
  readonly parts: LogPart[] = [];
  records = 0;
  first = 0;
  last = 0;
  lastTime = 0;
  readonly #dataset: Dataset;
  readonly #context: Context;
  readonly #order: SortOrder;
  readonly #versions = new KnownVersions();
  readonly #ids: KnownIds;
  /** Syncs of the directory that had failed before there was any. */
  readonly #failures: number;
  #revision = 0;
  #filling: PartFilling;

  constructor(dataset: Dataset, isCounted: boolean, context: Context) {
    this.#dataset = dataset;
    this.#context = context;
    this.#order = new SortOrder(dataset.name, isCounted);
    this.#ids = new KnownIds(dataset.name, context.options.dedupeWindow);
    this.#failures = context.sealed.syncFailures;
    this.#filling = new PartFilling(0);
  }

  get outOfOrder(): number {
    return this.#order.outOfOrder;
  }

  /** Before the first record. */
  begin(revision: number): number {
    this.#revision = revision;
    this.#filling = new PartFilling(revision);
    return revision;
  }

  async take(record: unknown): Promise<void> {
    for (const op of this.#order.take(importedOp(this.#dataset, record, this.#context.hash))) await this.#add(op);
  }

  /** All records have come: their parts and the names of these are durable. */
  async finish(): Promise<void> {
    for (const op of this.#order.rest()) await this.#add(op);
    if (this.#filling.records > 0) await this.#fill();
    await this.#onDisk(this.#context.sealed.syncParts(this.#failures));
  }

  /** No manifest names them, nor ever will. */
  async discard(): Promise<void> {
    for (const part of this.parts) await this.#context.sealed.discard(part);
  }

  async #add(op: ImportedOp): Promise<void> {
    const { key, version, time, sort } = op;
    const before = this.#versions.get(key) ?? (await this.#versions.load(key));
    if (before > 0 && version !== before + 1) throw this.#notNext(op, before);
    if (time < this.lastTime) throw this.#falls(op);
    this.#ids.add(op);
    this.#versions.set(key, version);
    this.#filling.add(op);
    this.records++;
    if (this.first === 0) this.first = sort;
    this.last = sort;
    this.lastTime = time;
    if (this.#filling.isFull(this.#context.options)) await this.#fill();
  }

  async #fill(): Promise<void> {
    const part = await this.#onDisk(this.#context.sealed.writeImported(this.#dataset, this.#filling));
    this.parts.push(part);
    this.#versions.filled(part);
    this.#filling = new PartFilling(this.#revision);
  }

  async #onDisk<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw diskError(error, "Importing", this.#context.options.dir);
    }
  }

  #notNext({ sort, key, version }: ImportedOp, before: number): EhdbError {
    const { name } = this.#dataset;
    const message = `the record at sort key ${sort} is version ${version} of ${name} ${JSON.stringify(key)}, where ${before + 1} comes next: a key's versions follow each other`;
    return new EhdbError("INVALID_ARGUMENT", message, { dataset: name, sort, key, version, expected: before + 1 });
  }

  #falls({ sort, time }: ImportedOp): EhdbError {
    const { name } = this.#dataset;
    const message = `the record at sort key ${sort} of ${name} is of time ${time}, and the one before it of ${this.lastTime}: times don't fall`;
    return new EhdbError("INVALID_ARGUMENT", message, { dataset: name, sort, time, before: this.lastTime });
  }
}
