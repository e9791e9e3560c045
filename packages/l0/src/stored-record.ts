import type { LogRecord } from "@ehdb/contracts";

/** A record of a log where it lies. To make a view of its payload costs more than all the rest of it, so that comes when it's asked for. */
export class StoredRecord implements LogRecord {
  readonly sort: number;
  readonly key: string;
  readonly version: number;
  readonly revision: number;
  readonly time: number;
  readonly id: string | undefined;
  readonly memory: Buffer;
  readonly start: number;
  readonly end: number;

  constructor(
    sort: number,
    key: string,
    version: number,
    revision: number,
    time: number,
    id: string | undefined,
    memory: Buffer,
    start: number,
    end: number,
  ) {
    this.sort = sort;
    this.key = key;
    this.version = version;
    this.revision = revision;
    this.time = time;
    this.id = id;
    this.memory = memory;
    this.start = start;
    this.end = end;
  }

  get payload(): Buffer {
    return this.memory.subarray(this.start, this.end);
  }
}
