import { EhdbError, refuseUnknown } from "@ehdb/contracts";
import type { Batches, ConsumerGroup, Feed, FeedSource, GroupInfo, GroupOptions } from "@ehdb/contracts";
import { hostOf } from "@ehdb/host";
import type { Host } from "@ehdb/host";
import { checkName, checkSource, groupSettings, isDropping, noGroup, readRequest } from "./call-options.ts";
import { readSource } from "./reading.ts";
import { ReferenceContents } from "./reference-contents.ts";
import { ReferenceGroup } from "./reference-group.ts";
import { asOfNow, sequenceAt } from "./start.ts";

export interface ReferenceFeedOptions<R> {
  readonly source: FeedSource<R>;
  /** Default: this machine. */
  readonly host?: Host;
}

/** A feed whose groups are in memory, as plain as can be: for tests, and as what other drivers are compared with. */
export function referenceFeed<R>(options: ReferenceFeedOptions<R>): Feed<R> {
  refuseUnknown(options, ["source", "host"], "");
  checkSource(options.source);
  return new ReferenceFeed(options.source, hostOf(options.host));
}

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
    const { epoch } = this.source;
    const next = await sequenceAt(this.source, asOfNow(start, this.source));
    // Another call may have made it meanwhile.
    this.#assertNew(name);
    const context = { source: this.source, clock: this.#host.clock, assertOpen: () => this.#assertOpen() };
    const group = new ReferenceGroup(new ReferenceContents(context, name, settings, next, epoch));
    this.#groups.set(name, group);
    return group;
  }

  async group(name: string): Promise<ConsumerGroup<R>> {
    return this.#group(name);
  }

  async groups(): Promise<readonly GroupInfo[]> {
    this.#assertOpen();
    const names = [...this.#groups.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    return names.map((name) => this.#group(name).contents.describe());
  }

  async deleteGroup(name: string, options?: Parameters<Feed<R>["deleteGroup"]>[1]): Promise<void> {
    const group = this.#group(name);
    const drops = isDropping(options);
    const { inFlight, waiting, parked } = group.contents.describe();
    if (!drops && inFlight + waiting + parked > 0) {
      const message = `${name} has ${inFlight} messages in flight, ${waiting} that wait and ${parked} parked. Finish them, or delete it with pending: "drop"`;
      throw new EhdbError("CONFLICT", message, { group: name, inFlight, waiting, parked });
    }
    this.#groups.delete(name);
    group.delete();
  }

  read(options?: Parameters<Feed<R>["read"]>[0]): Batches<R> {
    this.#assertOpen();
    return readSource(this.source, readRequest(options), () => this.#assertOpen());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const group of this.#groups.values()) group.wake();
    await Promise.all([...this.#groups.values()].map((group) => group.finish()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
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
