import type { LogRecord } from "@ehdb/contracts";
import { ENTRY_HEADER_BYTES, HASH_BYTES, hasId } from "../envelope.ts";

/** Of an append, from its op. */
const keyStartAt = 24;

/** For records: one a block. It reads numbers in a tenth of a Buffer's time. */
export function viewOf(block: Buffer): DataView {
  return new DataView(block.buffer, block.byteOffset, block.length);
}

/**
 * A record of a log in a block of a part. A scan finds millions a second, and of most of them little is asked: so each thing is read when
 * it's asked for.
 */
export class EntryRecord implements LogRecord {
  readonly memory: Buffer;
  readonly start: number;
  readonly end: number;
  readonly #view: DataView;
  readonly #at: number;

  /** `at`: where its entry begins in `block`, which `view` is of. */
  constructor(block: Buffer, at: number, view: DataView) {
    const op = at + ENTRY_HEADER_BYTES;
    const keyEnd = op + keyStartAt + view.getUint16(op + 6, true);
    const isNamed = (view.getUint8(op + 4) & hasId) !== 0;
    this.memory = block;
    this.start = isNamed ? keyEnd + 2 + view.getUint16(keyEnd, true) + HASH_BYTES : keyEnd;
    this.end = op + 4 + view.getUint32(op, true);
    this.#view = view;
    this.#at = at;
  }

  get sort(): number {
    return this.#view.getFloat64(this.#at + ENTRY_HEADER_BYTES + 8, true);
  }

  get key(): string {
    const op = this.#at + ENTRY_HEADER_BYTES;
    return this.memory.toString("utf8", op + keyStartAt, op + keyStartAt + this.#view.getUint16(op + 6, true));
  }

  get version(): number {
    return this.#view.getFloat64(this.#at + ENTRY_HEADER_BYTES + 16, true);
  }

  get revision(): number {
    return this.#view.getFloat64(this.#at, true);
  }

  get time(): number {
    return this.#view.getFloat64(this.#at + 8, true);
  }

  get id(): string | undefined {
    const op = this.#at + ENTRY_HEADER_BYTES;
    if ((this.#view.getUint8(op + 4) & hasId) === 0) return undefined;
    const keyEnd = op + keyStartAt + this.#view.getUint16(op + 6, true);
    return this.memory.toString("utf8", keyEnd + 2, keyEnd + 2 + this.#view.getUint16(keyEnd, true));
  }

  get payload(): Buffer {
    return this.memory.subarray(this.start, this.end);
  }
}
