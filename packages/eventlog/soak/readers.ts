import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { payloadSeed, SeededRandom } from "@ehdb/harness";
import { controls } from "./settings.ts";
import { streamName, streamNumber } from "./contents.ts";
import { STATES } from "./stage.ts";
import type { Stage } from "./stage.ts";

const pauseMillis = 4;
const scanned = 1000;
const statesScanned = 200;
/** Compared in one turn of the loop: whoever decodes a thousand events at once holds up the loop himself. */
const comparedAtOnce = 32;

/** Reads what writers write, one read after the other, and compares it with the ledger: it counts records. */
export class Reader {
  read = 0;
  readonly #stage: Stage;
  readonly #random: SeededRandom;
  /** Where the defect is that nothing is let go. */
  readonly #kept: unknown[] = [];

  constructor(stage: Stage, reader: number) {
    this.#stage = stage;
    this.#random = new SeededRandom(payloadSeed - 1 - reader);
  }

  async run(): Promise<void> {
    const { isOver, ledger } = this.#stage;
    while (!isOver()) {
      const stream = this.#random.integer(ledger.version.length);
      const kind = this.#random.integer(8);
      if (kind < 4) await this.#readStream(stream);
      else if (kind === 4) await this.#scan();
      else if (kind < 7) await this.#state(stream);
      else await this.#scanStates(stream);
      await pause(pauseMillis);
    }
  }

  async #readStream(stream: number): Promise<void> {
    const { log, ledger } = this.#stage;
    const name = streamName(stream);
    const [acknowledged, least] = [ledger.version[stream] as number, ledger.first[stream] as number];
    let [first, last] = [0, 0];
    for await (const batch of log.readStream(name).batches()) {
      await this.#each(batch, (event) => {
        if (first === 0) first = event.version;
        else if (event.version !== last + 1) this.#wrong(`${name} has ${last}, then ${event.version}`);
        last = event.version;
        this.#check(event);
      });
      this.#keep(batch.map(({ data }) => data));
    }
    ledger.raised(log.firstPosition);
    const most = Math.max(ledger.first[stream] as number, ledger.firstAsked[stream] as number);
    if (first > 0 && (first < least || first > most))
      this.#wrong(`${name} begins with version ${first}, not within ${least} to ${most}`);
    const end = Math.max(last, most - 1);
    if (end < acknowledged || last > (ledger.asked[stream] as number))
      this.#wrong(`${name} ends with version ${last}, and ${acknowledged} was acknowledged`);
  }

  async #scan(): Promise<void> {
    const { log, ledger } = this.#stage;
    const { position: durable, firstPosition } = log;
    const after = firstPosition - 1 + this.#random.integer(Math.max(1, durable - firstPosition));
    let position = after;
    const begun = log.scan({ after, limit: scanned }).batches();
    try {
      for await (const batch of begun) {
        const before = position;
        position = batch.at(-1)?.position ?? position;
        for (let [at, index] = [before + 1, 0]; at <= position && at <= durable; at++) {
          if (batch[index]?.position === at) index++;
          else if (ledger.has(at) && !this.#isBeingHidden(at)) this.#wrong(`the scan left out position ${at}`);
        }
        await this.#each(batch, (event) => this.#check(event));
      }
    } catch (error) {
      // The floor has passed it.
      if (log.firstPosition <= after + 1) throw error;
    }
  }

  /** Hidden perhaps, but not acknowledged as hidden. */
  #isBeingHidden(position: number): boolean {
    const { ledger } = this.#stage;
    const stream = ledger.streamOf(position);
    return (ledger.firstAsked[stream] as number) > (ledger.first[stream] as number);
  }

  async #state(stream: number): Promise<void> {
    const { engine, ledger } = this.#stage;
    const before = ledger.state[stream] as number;
    const record = await engine.map(STATES).get(streamName(stream));
    if (record === undefined) {
      if (before > 0 && ledger.stateAsked[stream] === before && ledger.state[stream] === before)
        this.#wrong(`the state of ${streamName(stream)} is missing`);
    } else this.#checkState(record, before);
  }

  async #scanStates(stream: number): Promise<void> {
    const { engine } = this.#stage;
    let key = "";
    for await (const batch of engine.map(STATES).scan({ from: streamName(stream), limit: statesScanned })) {
      await this.#each(batch, (record) => {
        if (record.key <= key) this.#wrong(`the state of ${record.key} comes behind that of ${key}`);
        key = record.key;
        this.#checkState(record, 0);
      });
    }
  }

  async #each<T>(batch: readonly T[], compare: (one: T) => void): Promise<void> {
    for (let at = 0; at < batch.length; at += comparedAtOnce) {
      if (at > 0) await turn();
      for (const one of batch.slice(at, at + comparedAtOnce)) compare(one);
    }
  }

  #check(event: { readonly stream: string; readonly version: number; readonly type: string; readonly data?: unknown }) {
    this.read++;
    const { contents } = this.#stage;
    if (!contents.isEvent(streamNumber(event.stream), event.version, event))
      this.#wrong(`version ${event.version} of ${event.stream} isn't what was appended`);
  }

  #checkState({ key, payload }: { readonly key: string; readonly payload: Uint8Array }, least: number): void {
    this.read++;
    const { contents, ledger } = this.#stage;
    const stream = streamNumber(key);
    const version = contents.versionOfState(stream, payload);
    if (version === undefined) this.#wrong(`the state of ${key} isn't what was put`);
    else if (version < least || version > (ledger.asked[stream] as number))
      this.#wrong(`the state of ${key} is of version ${version}, and ${least} was acknowledged`);
    this.#keep(new Uint8Array(payload));
  }

  #keep(what: unknown): void {
    if (this.#stage.control === controls.leak) this.#kept.push(what);
  }

  #wrong(found: string): void {
    this.#stage.problems.add("reads", found);
  }
}
