import type { Random } from "../host.ts";
import type { Stream } from "./stream.ts";

export class SimulatedRandom implements Random {
  readonly #stream: Stream;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at++) bytes[at] = this.#stream.next() >>> 24;
    return bytes;
  }

  id(): string {
    let id = "";
    for (let word = 0; word < 4; word++) id += this.#stream.next().toString(16).padStart(8, "0");
    return id;
  }

  integer(bound: number): number {
    return this.#stream.integer(bound);
  }
}
