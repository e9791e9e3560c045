import type { Checkpoint, JournalRecord } from "../src/index.ts";

/** One write as its caller asked for it: one record, or several that are kept or lost together. */
export interface Write {
  readonly id: number;
  readonly records: readonly Uint8Array[];
  /** The incarnation that was asked. */
  readonly epoch: number;
  /** Its first sequence; 0 until somebody has said it. */
  first: number;
  state: "asked" | "minted" | "refused" | "cut";
}

/** A place in the log, and whose record it was when it was shown. */
export interface Shown {
  readonly checkpoint: Checkpoint;
  readonly write: Write;
}

interface Place {
  readonly write: Write;
  readonly data: Uint8Array;
  /** As first shown; -1 until then. */
  time: number;
}

/** Records of this size or more begin with their write's id and their place in it, so that they can be told apart. */
export const STAMP_BYTES = 8;

/**
 * What the journal has promised, kept as plainly as can be: the bytes by sequence, and how far they are acknowledged. It
 * never looks at a file; it only compares what it's shown with what was asked.
 */
export class Ledger {
  readonly violations: string[] = [];
  /** The highest sequence that anybody was told is durable, or was shown where only durable records are shown. */
  firm = 0;
  /** Everything below was dropped, and that was acknowledged. */
  low = 1;
  /** Nothing at or above this was ever asked to be dropped. */
  lowMost = 1;
  epoch = 0;
  readonly #places: (Place | undefined)[] = [];
  readonly #writes = new Map<number, Write>();
  #nextId = 1;
  /** Writes that somebody was told have been cut. */
  #saidCut: Write[] = [];

  fail(what: string): void {
    this.violations.push(what);
  }

  /** The last sequence known to have been given out. */
  get last(): number {
    return Math.max(0, this.#places.length - 1);
  }

  nextId(): number {
    return this.#nextId++;
  }

  ask(id: number, records: readonly Uint8Array[], epoch: number): Write {
    const write: Write = { id, records, epoch, first: 0, state: "asked" };
    this.#writes.set(id, write);
    return write;
  }

  /** The journal said that the write has these sequences. */
  mint(write: Write, first: number): void {
    if (write.state === "refused") this.fail(`write ${write.id} was refused and has sequence ${first}`);
    if (write.first !== 0 && write.first !== first)
      this.fail(`write ${write.id} is at ${write.first}, and its caller was told ${first}`);
    if (write.state === "minted" || write.state === "cut") return;
    this.#place(write, first);
  }

  /** The journal said no: nothing of it may ever be seen. */
  refuse(write: Write, code: string): void {
    if (write.state === "minted")
      this.fail(`write ${write.id} was refused with ${code} and is in the log at ${write.first}`);
    write.state = "refused";
  }

  /** Somebody was told, or could conclude, that everything up to `sequence` is durable. */
  acknowledge(sequence: number): void {
    this.firm = Math.max(this.firm, sequence);
  }

  /** A reader was shown a record; `firmly` where only durable ones are shown. */
  see(record: JournalRecord, firmly: boolean): void {
    const { sequence, data, epoch, time } = record;
    const place = this.#places[sequence] ?? this.#claim(record);
    if (place === undefined) {
      this.fail(`sequence ${sequence} (epoch ${epoch}, ${data.length} bytes) holds what nobody asked for`);
      return;
    }
    if (Buffer.compare(place.data, data) !== 0)
      this.fail(`sequence ${sequence} doesn't hold the bytes of write ${place.write.id}`);
    if (place.write.epoch !== epoch)
      this.fail(`sequence ${sequence} was minted in epoch ${place.write.epoch} and says ${epoch}`);
    if (place.time !== -1 && place.time !== time)
      this.fail(`the time of sequence ${sequence} was ${place.time} and is ${time}`);
    place.time = time;
    if (firmly) this.acknowledge(sequence);
  }

  shown({ sequence, epoch }: JournalRecord): Shown | undefined {
    const place = this.#places[sequence];
    return place === undefined ? undefined : { checkpoint: { sequence, epoch }, write: place.write };
  }

  bytesOf(sequence: number): Uint8Array | undefined {
    return this.#places[sequence]?.data;
  }

  epochOf(sequence: number): number | undefined {
    return this.#places[sequence]?.write.epoch;
  }

  /** Somebody was told that what follows this place was cut: the next recovery shows whether that's true. */
  saidCut(shown: Shown): void {
    this.#saidCut.push(shown.write);
  }

  /** A writable open or a reopen is done, and all its records have been seen: what isn't there now is gone for good. */
  opened(first: number, last: number, epoch: number): void {
    if (last < this.firm) this.fail(`the log ends at ${last} after recovery, and ${this.firm} was acknowledged`);
    if (last > this.last) this.fail(`the log ends at ${last} after recovery, and only ${this.last} were ever minted`);
    if (epoch <= this.epoch) this.fail(`the epoch is ${epoch} after recovery and was ${this.epoch} before`);
    this.epoch = Math.max(epoch, this.epoch);
    this.checkFirst(first);
    const write = this.#places[last]?.write;
    const end = write === undefined ? last : write.first + write.records.length - 1;
    if (end !== last) this.fail(`the log ends at ${last}, in the middle of the atomic write ${write?.first} to ${end}`);
    for (const place of this.#places.slice(last + 1)) if (place !== undefined) place.write.state = "cut";
    this.#places.length = Math.min(this.#places.length, last + 1);
    for (const [id, one] of this.#writes) if (one.state === "asked" || one.state === "cut") this.#writes.delete(id);
    for (const one of this.#saidCut.splice(0)) {
      if (one.state !== "cut") this.fail(`a reader was told that ${one.first} was cut, and it is still there`);
    }
    this.acknowledge(last);
  }

  checkFirst(first: number): void {
    if (first < this.low) this.fail(`the log begins at ${first}, and everything below ${this.low} was dropped`);
    if (first > this.lowMost) this.fail(`the log begins at ${first}, and nobody asked to drop ${this.lowMost}`);
  }

  /** The write that a record nobody has placed yet belongs to, by its stamp. */
  #claim({ sequence, data }: JournalRecord): Place | undefined {
    if (data.length < STAMP_BYTES) return undefined;
    const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const write = this.#writes.get(view.readUInt32LE(0));
    if (write?.state === "refused") this.fail(`write ${write.id} was refused and is in the log at ${sequence}`);
    if (write?.state !== "asked") return undefined;
    const first = sequence - view.readUInt32LE(4);
    if (first < 1 || sequence >= first + write.records.length) return undefined;
    this.#place(write, first);
    return this.#places[sequence];
  }

  #place(write: Write, first: number): void {
    write.first = first;
    write.state = "minted";
    while (this.#places.length < first) this.#places.push(undefined);
    for (const [i, data] of write.records.entries()) {
      const there = this.#places[first + i];
      if (there !== undefined)
        this.fail(`sequence ${first + i} was given to write ${there.write.id} and to write ${write.id}`);
      this.#places[first + i] = { write, data, time: -1 };
    }
  }
}
