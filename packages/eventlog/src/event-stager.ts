import { MIB } from "@ehdb/contracts";
import type { NewRecord, WriteBatch } from "@ehdb/contracts";
import type { Random } from "@ehdb/host";
import { dataset } from "./datasets.ts";
import { bytesOf, mostBytesOf } from "./encoding.ts";
import type { EncodedEvent } from "./encoding.ts";
import { EVENT_OVERHEAD_BYTES, writeEvent } from "./event-bytes.ts";
import { MadeIds } from "./made-ids.ts";

const scratchBytes = MIB;
const noId = new Uint8Array();

/** States the events of an append in a write batch. They are written into memory that is used again: the batch copies it. */
export class EventStager {
  readonly #scratch = Buffer.allocUnsafeSlow(scratchBytes);
  readonly #ids: MadeIds;

  constructor(random: Random) {
    this.#ids = new MadeIds(random);
  }

  /** All of them, or when the batch refuses one, none. */
  stage(batch: WriteBatch, stream: string, events: readonly EncodedEvent[]): void {
    const count = events.length;
    const buffer = this.#bufferFor(events);
    const records: NewRecord[] = [];
    let at = 0;
    for (let index = 0; index < count; index++) {
      const event = events[index] as EncodedEvent;
      const { isIdGiven } = event;
      const end = writeEvent(buffer, at, event, index, count, isIdGiven ? noId : this.#ids.next());
      records.push({ payload: buffer.subarray(at, end), id: isIdGiven ? event.id : undefined });
      at = end;
    }
    batch.appendAll(dataset.events, stream, records);
  }

  /** Room for all of them. */
  #bufferFor(events: readonly EncodedEvent[]): Buffer {
    let atMost = events.length * EVENT_OVERHEAD_BYTES;
    for (const event of events) atMost += mostBytesOf(event);
    if (atMost <= scratchBytes) return this.#scratch;
    const bytes = events.reduce((sum, event) => sum + bytesOf(event) + EVENT_OVERHEAD_BYTES, 0);
    return bytes <= scratchBytes ? this.#scratch : Buffer.allocUnsafe(bytes);
  }
}
