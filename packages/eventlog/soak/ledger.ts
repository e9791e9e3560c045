import { EhdbError } from "@ehdb/contracts";
import type { Contents } from "./contents.ts";

const none = -1;

/**
 * What was acknowledged, and so what reads must give: of each stream a few numbers, of each position within the last few million its
 * stream and the next position of that. It takes the same memory however long a run is.
 */
export class Ledger {
  /** By stream: the last version that was acknowledged, and that was asked for. */
  readonly version: Float64Array;
  readonly asked: Float64Array;
  /** The first version that can be read, as acknowledged; and if what was asked for is done. */
  readonly first: Float64Array;
  readonly firstAsked: Float64Array;
  /** The version in the state, 0 for none: as acknowledged, and the newest that was asked for. */
  readonly state: Float64Array;
  readonly stateAsked: Float64Array;
  readonly #contents: Contents;
  /** By stream: the positions of the first and the last version that can be read. */
  readonly #head: Float64Array;
  readonly #tail: Float64Array;
  /** By position, in a ring. */
  readonly #streamAt: Int32Array;
  readonly #nextAt: Float64Array;
  readonly #bytesAt: Uint16Array;
  #floor = 1;
  #last = 0;
  #events = 0;
  #eventBytes = 0;
  #stateBytes = 0;

  constructor(contents: Contents, streams: number, positions: number) {
    this.#contents = contents;
    const ofStreams = (): Float64Array => new Float64Array(streams);
    [this.version, this.asked, this.state, this.stateAsked] = [ofStreams(), ofStreams(), ofStreams(), ofStreams()];
    [this.first, this.firstAsked] = [ofStreams().fill(1), ofStreams().fill(1)];
    [this.#head, this.#tail] = [ofStreams().fill(none), ofStreams().fill(none)];
    this.#streamAt = new Int32Array(positions).fill(none);
    this.#nextAt = new Float64Array(positions);
    this.#bytesAt = new Uint16Array(positions);
  }

  /** All records that reads can give, encoded. */
  get liveBytes(): number {
    return this.#eventBytes + this.#stateBytes;
  }

  /** Events that can be read. */
  get events(): number {
    return this.#events;
  }

  get floor(): number {
    return this.#floor;
  }

  appended(stream: number, firstPosition: number, count: number): void {
    for (let position = firstPosition; position < firstPosition + count; position++) {
      this.#append(
        stream,
        position,
        this.#contents.eventBytes(stream, (this.version[stream] as number) + 1, count > 1),
      );
    }
  }

  /** All events of the stream before this version are hidden. */
  hidden(stream: number, before: number): void {
    while ((this.first[stream] as number) < before) this.#forgetHead(stream);
  }

  /** Nothing below this position can be read. */
  raised(floor: number): void {
    for (; this.#floor < floor; this.#floor++) {
      const stream = this.#streamAt[this.#slot(this.#floor)] as number;
      // The first of its stream: positions of one stream rise.
      if (stream !== none) this.#forgetHead(stream);
    }
  }

  put(stream: number, version: number): void {
    this.deleted(stream);
    this.state[stream] = version;
    this.#stateBytes += this.#contents.stateBytes(stream, version);
  }

  deleted(stream: number): void {
    const before = this.state[stream] as number;
    if (before > 0) this.#stateBytes -= this.#contents.stateBytes(stream, before);
    this.state[stream] = 0;
  }

  /** Whether the event at this position was acknowledged, and can be read. */
  has(position: number): boolean {
    return position >= this.#floor && position <= this.#last && this.#streamAt[this.#slot(position)] !== none;
  }

  /** Of a position that `has` is true of. */
  streamOf(position: number): number {
    return this.#streamAt[this.#slot(position)] as number;
  }

  #append(stream: number, position: number, bytes: number): void {
    const version = (this.version[stream] as number) + 1;
    this.version[stream] = version;
    for (; this.#last < position; this.#last++) this.#streamAt[this.#slot(this.#last + 1)] = none;
    if (position - this.#floor >= this.#streamAt.length) {
      const message = `${position - this.#floor} positions are kept, the ledger has room for ${this.#streamAt.length}`;
      throw new EhdbError("UNEXPECTED", message, { position });
    }
    if (position < this.#floor) {
      this.first[stream] = version + 1;
      return;
    }
    const slot = this.#slot(position);
    this.#streamAt[slot] = stream;
    this.#nextAt[slot] = none;
    this.#bytesAt[slot] = bytes;
    const tail = this.#tail[stream] as number;
    if (tail === none) this.#head[stream] = position;
    else this.#nextAt[this.#slot(tail)] = position;
    this.#tail[stream] = position;
    this.#events++;
    this.#eventBytes += bytes;
  }

  #forgetHead(stream: number): void {
    this.first[stream] = (this.first[stream] as number) + 1;
    const head = this.#head[stream] as number;
    // A version that a floor had passed before it was acknowledged.
    if (head === none) return;
    const slot = this.#slot(head);
    this.#streamAt[slot] = none;
    this.#events--;
    this.#eventBytes -= this.#bytesAt[slot] as number;
    const next = this.#nextAt[slot] as number;
    this.#head[stream] = next;
    if (next === none) this.#tail[stream] = none;
  }

  #slot(position: number): number {
    return position % this.#streamAt.length;
  }
}
