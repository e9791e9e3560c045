import { createHash } from "node:crypto";
import type { Payload } from "./payload.ts";

const ID_OFFSET = '{"id":"'.length;
const ID_LENGTH = 36;
/** An id keeps its event's number in 48 bits. */
const NUMBERS = 2 ** 48;

/**
 * Events without end, by number: the payloads over and over, each time with another id. Id and bytes depend on the
 * seed and the number only, so what ought to be in a log can be said at any time, in any process, without keeping it.
 *
 * The id is a UUID of version 8 (RFC 9562): a hash of seed and number, then the number.
 */
export class EventSource {
  readonly payloads: number;
  readonly meanBytes: number;
  readonly maxBytes: number;
  /** All that there are, each once. */
  readonly streams: readonly string[];
  readonly types: readonly string[];
  readonly #seed: number;
  readonly #payloads: readonly Payload[];
  readonly #templates: readonly Uint8Array[];
  /** By payload, once it was asked for. */
  readonly #contents: string[] = [];

  constructor(seed: number, payloads: readonly Payload[]) {
    this.#seed = seed;
    this.#payloads = payloads;
    this.#templates = payloads.map(template);
    this.payloads = payloads.length;
    this.streams = [...new Set(payloads.map(({ stream }) => stream))];
    this.types = [...new Set(payloads.map(({ type }) => type))];
    this.meanBytes = this.#templates.reduce((sum, bytes) => sum + bytes.length, 0) / payloads.length;
    this.maxBytes = this.#templates.reduce((most, bytes) => Math.max(most, bytes.length), 0);
  }

  id(number: number): string {
    const hash = createHash("sha256").update(`${this.#seed}:${number}`).digest("hex");
    const variant = "89ab"[Number.parseInt(hash.slice(15, 16), 16) & 3];
    const tail = number.toString(16).padStart(12, "0");
    return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(12, 15)}-${variant}${hash.slice(16, 19)}-${tail}`;
  }

  /** A new array each time. */
  bytes(number: number): Uint8Array {
    const bytes = Buffer.from(this.#templates[number % this.#templates.length] as Uint8Array);
    bytes.write(this.id(number), ID_OFFSET, "latin1");
    return bytes;
  }

  /** The number of the event that `bytes` say they are, or undefined when they carry no id of this source. */
  numberOf(bytes: Uint8Array): number | undefined {
    if (bytes.length < ID_OFFSET + ID_LENGTH) return undefined;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const id = view.toString("latin1", ID_OFFSET, ID_OFFSET + ID_LENGTH);
    return this.numberOfId(id);
  }

  numberOfId(id: string): number | undefined {
    const number = Number.parseInt(id.slice(-12), 16);
    return number >= 0 && number < NUMBERS && this.id(number) === id ? number : undefined;
  }

  stream(number: number): string {
    return this.#payload(number).stream;
  }

  type(number: number): string {
    return this.#payload(number).type;
  }

  /** What the event carries, as JSON writes it when it has read it: what an event log must give back. */
  content(number: number): string {
    return (this.#contents[number % this.payloads] ??= JSON.stringify(this.data(number)));
  }

  /** What the event carries, parsed: a new object each time. */
  data(number: number): unknown {
    return JSON.parse(Buffer.from(this.#payload(number).data).toString());
  }

  #payload(number: number): Payload {
    return this.#payloads[number % this.payloads] as Payload;
  }
}

function template(payload: Payload): Uint8Array {
  const head = Buffer.from(`{"id":"${"0".repeat(ID_LENGTH)}","type":${JSON.stringify(payload.type)},"data":`);
  return Buffer.concat([head, payload.data, Buffer.from("}")]);
}
