import { EhdbError } from "@ehdb/contracts";
import { Chunks, offsetOf, placeAt } from "./chunks.ts";
import type { Place } from "./chunks.ts";
import { CommitIndex } from "./commit-index.ts";
import type { Dataset } from "./dataset.ts";
import {
  COMMIT_FORMAT,
  COMMIT_HEADER_BYTES,
  datasetAt,
  idAt,
  isOfLog,
  isWholeOp,
  keyTextAt,
  opEnd,
  operation,
  operationAt,
  sortAt,
  versionAt,
} from "./envelope.ts";
import { LogTable } from "./log-table.ts";
import { MapTable } from "./map-table.ts";

/** Commits that aren't in parts yet: their bytes as they are in the journal, and tables of where each record is. */
export class Generation {
  readonly chunks: Chunks = new Chunks();
  readonly commits: CommitIndex;
  readonly logs: Map<number, LogTable> = new Map();
  readonly maps: Map<number, MapTable> = new Map();
  /** Monotonic milliseconds when its first commit was taken in. */
  begunMillis: number | undefined;
  records = 0;

  constructor(firstRevision: number) {
    this.commits = new CommitIndex(this.chunks, firstRevision);
  }

  get isEmpty(): boolean {
    return this.commits.places.length === 0;
  }

  get firstRevision(): number {
    return this.commits.firstRevision;
  }

  get lastRevision(): number {
    return this.commits.lastRevision;
  }

  addAppend(
    dataset: Dataset,
    place: Place,
    revision: number,
    key: string,
    version: number,
    id: string | undefined,
  ): void {
    this.records++;
    this.#log(dataset).add(place, revision, key, version, id);
    dataset.nextSort++;
  }

  /** The table says that the dataset has something to be sealed. */
  addErasure(dataset: Dataset): void {
    this.records++;
    this.#log(dataset);
  }

  addWrite(dataset: Dataset, place: Place, revision: number, key: string): void {
    this.records++;
    this.#map(dataset).add(place, revision, key);
  }

  /** Copies a commit that was read back from the journal. CORRUPT when it isn't one, or not the one that comes next. */
  replay(bytes: Buffer, datasets: ReadonlyMap<number, Dataset>): void {
    const place = this.chunks.reserve(bytes.length);
    const buffer = this.chunks.buffer(place);
    const start = offsetOf(place);
    const end = start + bytes.length;
    buffer.set(bytes, start);
    const revision = this.commits.add(place, bytes.length);
    if (bytes[0] !== COMMIT_FORMAT)
      throw unreadable(revision, `its format is ${bytes[0]}, and this version reads ${COMMIT_FORMAT}`);
    for (let at = start + COMMIT_HEADER_BYTES; at < end; at = opEnd(buffer, at)) {
      if (!isWholeOp(buffer, at, end)) throw unreadable(revision, "its operations don't fill it");
      const dataset = datasets.get(datasetAt(buffer, at));
      if (dataset === undefined)
        throw unreadable(revision, `it writes to a dataset number ${datasetAt(buffer, at)}, which isn't known`);
      const key = keyTextAt(buffer, at);
      const op = operationAt(buffer, at);
      if (isOfLog(op) !== (dataset.order === "by-sort"))
        throw unreadable(revision, `its operation ${op} isn't one of ${dataset.name}, which is ${dataset.order}`);
      if (op === operation.erase) {
        this.addErasure(dataset);
        continue;
      }
      if (op !== operation.append) {
        this.addWrite(dataset, placeAt(place, at), revision, key);
        continue;
      }
      if (sortAt(buffer, at) !== dataset.nextSort) {
        throw unreadable(
          revision,
          `it holds position ${sortAt(buffer, at)} of ${dataset.name}, where ${dataset.nextSort} comes next`,
        );
      }
      const id = idAt(buffer, at);
      const idText = id.length === 0 ? undefined : id.toString();
      this.addAppend(dataset, placeAt(place, at), revision, key, versionAt(buffer, at), idText);
    }
  }

  #log(dataset: Dataset): LogTable {
    let table = this.logs.get(dataset.id);
    if (table === undefined) {
      table = new LogTable(this.commits, dataset.nextSort);
      this.logs.set(dataset.id, table);
    }
    return table;
  }

  #map(dataset: Dataset): MapTable {
    let table = this.maps.get(dataset.id);
    if (table === undefined) {
      table = new MapTable(this.commits);
      this.maps.set(dataset.id, table);
    }
    return table;
  }
}

function unreadable(revision: number, reason: string): EhdbError {
  const message = `commit ${revision} can't be read back: ${reason}`;
  return new EhdbError("CORRUPT", message, { revision });
}
