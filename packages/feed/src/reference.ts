import { EhdbError, refuseUnknown } from "@ehdb/contracts";
import type { Batches, ConsumerGroup, Feed, FeedSource, GroupInfo, GroupOptions } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { checkName, groupSettings, isDropping, noGroup, readRequest } from "./call-options.ts";
import type { ReadRequest } from "./call-options.ts";
import { ReferenceGroup } from "./reference-group.ts";
import { sequenceAt } from "./start.ts";
import { subjectFilter } from "./subjects.ts";

export interface ReferenceFeedOptions<R> {
  readonly source: FeedSource<R>;
  /** Default: this machine. */
  readonly host?: Host;
}

/** A feed whose groups are in memory, as plain as can be: for tests, and as what other drivers are compared with. */
export function referenceFeed<R>(options: ReferenceFeedOptions<R>): Feed<R> {
  refuseUnknown(options, ["source", "host"], "");
  return new ReferenceFeed(options.source, hostOf(options.host));
}

const readAtOnce = 1_000;

class ReferenceFeed<R> implements Feed<R> {
  readonly source: FeedSource<R>;
  readonly #host: Host;
  readonly #groups = new Map<string, ReferenceGroup<R>>();
  #isClosed = false;

  constructor(source: FeedSource<R>, host: Host) {
    this.source = source;
    this.#host = host;
  }

  async createGroup(name: string, options?: GroupOptions): Promise<ConsumerGroup<R>> {
    this.#assertOpen();
    checkName("name", name);
    const { settings, start } = groupSettings(options);
    this.#assertNew(name);
    const next = await sequenceAt(this.source, start);
    // Another call may have made it meanwhile.
    this.#assertNew(name);
    const context = { source: this.source, clock: this.#host.clock, assertOpen: () => this.#assertOpen() };
    const group = new ReferenceGroup(context, name, settings, next);
    this.#groups.set(name, group);
    return group;
  }

  async group(name: string): Promise<ConsumerGroup<R>> {
    return this.#group(name);
  }

  async groups(): Promise<readonly GroupInfo[]> {
    this.#assertOpen();
    const names = [...this.#groups.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    return names.map((name) => this.#group(name).describe());
  }

  async deleteGroup(name: string, options?: Parameters<Feed<R>["deleteGroup"]>[1]): Promise<void> {
    const group = this.#group(name);
    const drops = isDropping(options);
    const { inFlight, waiting, parked } = group.describe();
    if (!drops && inFlight + waiting + parked > 0) {
      const message = `${name} has ${inFlight} messages in flight, ${waiting} that wait and ${parked} parked. Finish them, or delete it with pending: "drop"`;
      throw new EhdbError("CONFLICT", message, { group: name, inFlight, waiting, parked });
    }
    this.#groups.delete(name);
    group.delete();
  }

  read(options?: Parameters<Feed<R>["read"]>[0]): Batches<R> {
    this.#assertOpen();
    return this.#read(readRequest(options));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const group of this.#groups.values()) group.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#read({ after, subjects, limit, signal }: ReadRequest): AsyncGenerator<readonly R[]> {
    const { source } = this;
    const wants = subjectFilter(subjects);
    const { last } = source;
    let next = after === undefined ? source.first : after + 1;
    for (let left = limit; left > 0 && next <= last;) {
      let isEnd = true;
      for await (const batch of source.read(next, readAtOnce, signal)) {
        this.#assertOpen();
        isEnd = false;
        next = source.sequenceOf(batch.at(-1) as R) + 1;
        const wanted = batch.filter((one) => source.sequenceOf(one) <= last && wants(source.subjectOf(one)));
        if (wanted.length > 0) yield wanted.slice(0, left);
        left -= wanted.length;
        if (left <= 0) return;
      }
      if (isEnd) return;
    }
  }

  #group(name: string): ReferenceGroup<R> {
    this.#assertOpen();
    const group = this.#groups.get(checkName("name", name));
    if (group === undefined) throw noGroup(name);
    return group;
  }

  #assertNew(name: string): void {
    if (!this.#groups.has(name)) return;
    const message = `there is a group ${JSON.stringify(name)} already: group() opens it`;
    throw new EhdbError("ALREADY_EXISTS", message, { group: name });
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new EhdbError("CLOSED", "the feed is closed. Open it again");
  }
}
