import { EhdbError } from "@ehdb/contracts";
import type { Batches, MapDataset, MapRecord, MapScanOptions } from "@ehdb/contracts";
import { MapReads } from "../map-reads.ts";
import { keyRange } from "../read-options.ts";
import type { Moment } from "./moment.ts";
import { once, resumed } from "./resumed-reads.ts";
import type { Begun, ResumableRead, ResumedContext } from "./resumed-reads.ts";

/** A map beside its writer: a scan goes on behind the last key that it gave, as long as merges keep the values of its moment. */
export class ResumedMap implements MapDataset {
  readonly name: string;
  readonly #context: ResumedContext;

  constructor(context: ResumedContext, name: string) {
    this.#context = context;
    this.name = name;
  }

  async get(key: string): Promise<MapRecord | undefined> {
    return await once(this.#context, (moment) => this.#at(moment, moment.revision).get(key));
  }

  scan(options: MapScanOptions = {}): Batches<MapRecord> {
    const { signal } = keyRange(options);
    const scan: ResumableRead<MapRecord, MapScanOptions> = {
      options,
      read: (moment, rest, begun) => {
        this.#assertKept(moment, begun);
        return this.#at(moment, begun.revision).scan(rest);
      },
      behind: (rest, records) => {
        const limit = rest.limit === undefined ? undefined : rest.limit - records.length;
        if (limit === 0) return undefined;
        // No key comes between one and the same with a zero behind.
        const from = `${(records.at(-1) as MapRecord).key}\0`;
        return { ...rest, from, ...(limit === undefined ? {} : { limit }) };
      },
      isRising: false,
    };
    return this.#context.reading(() => resumed(this.#context, this.name, scan), signal);
  }

  #at(moment: Moment, revision: number): MapReads {
    return new MapReads(this.#context.at(moment, revision), this.name);
  }

  /** Merges keep all values of the revisions from the floor on. */
  #assertKept(moment: Moment, { revision, isResumed }: Begun): void {
    const floor = moment.floorOf(this.name);
    if (!isResumed || floor <= revision) return;
    const message = `the values that ${this.name} had at revision ${revision} are gone: the writer has merged what is older than ${floor} while they were read. Scan again, in smaller ranges, or let the writer keep older values for longer (historyRevisions)`;
    throw new EhdbError("COMPACTED", message, { dataset: this.name, revision, floor });
  }
}
