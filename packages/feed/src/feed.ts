import { EhdbError } from "@ehdb/contracts";
import type { Batches, Feed, FeedSource, FeedStart, FeedState, GroupInfo, GroupOptions } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import { checkName, groupSettings, isDropping, noGroup, readRequest } from "./call-options.ts";
import type { GroupSettings } from "./call-options.ts";
import type { DurableGroup } from "./group.ts";
import { GroupContents } from "./group-contents.ts";
import { groupKey } from "./group-format.ts";
import type { GroupContext } from "./group-contents.ts";
import { loadGroups } from "./load-group.ts";
import { readSource } from "./reading.ts";
import { Saver } from "./saver.ts";
import { asOfNow, sequenceAt } from "./start.ts";

export interface StatefulFeedParts<R, G> {
  readonly source: FeedSource<R>;
  readonly state: FeedState;
  readonly clock: Clock;
  readonly makeGroup: (contents: GroupContents<R>) => G;
  /** After everything else at a close. */
  readonly release: () => Promise<void>;
}

/** A feed whose groups are in a state. */
export class StatefulFeed<R, G extends DurableGroup<R>> implements Feed<R> {
  readonly source: FeedSource<R>;
  readonly #parts: StatefulFeedParts<R, G>;
  readonly #context: GroupContext<R>;
  readonly #groups = new Map<string, G>();
  /** Makes and deletes, one after the other. */
  #line: Promise<unknown> = Promise.resolve();
  #nextId = 1;
  /** What may be in the state of groups that aren't there: left by a delete, or by a creation of which nobody knows the outcome. */
  #leftovers: readonly string[] = [];
  #closing: Promise<void> | undefined;

  constructor(parts: StatefulFeedParts<R, G>) {
    const { source, state, clock } = parts;
    this.source = source;
    this.#parts = parts;
    this.#context = { source, state, clock, assertOpen: () => this.#assertOpen() };
  }

  /** Finds the groups that there are. */
  async load(): Promise<void> {
    const { groups, nextId, leftovers } = await loadGroups(this.#context);
    for (const contents of groups) this.#groups.set(contents.name, this.#parts.makeGroup(contents));
    this.#nextId = nextId;
    this.#leftovers = leftovers;
    await this.#clean();
  }

  async createGroup(name: string, options?: GroupOptions): Promise<G> {
    this.#assertOpen();
    checkName("name", name);
    const { settings, start } = groupSettings(options);
    const from = asOfNow(start, this.source);
    return await this.#inLine(() => this.#create(name, settings, from));
  }

  async group(name: string): Promise<G> {
    return this.#group(name);
  }

  async groups(): Promise<readonly GroupInfo[]> {
    this.#assertOpen();
    const names = [...this.#groups.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    return await Promise.all(names.map((name) => this.#group(name).info()));
  }

  async deleteGroup(name: string, options?: Parameters<Feed<R>["deleteGroup"]>[1]): Promise<void> {
    this.#group(name);
    const drops = isDropping(options);
    await this.#inLine(() => this.#delete(name, drops));
  }

  read(options?: Parameters<Feed<R>["read"]>[0]): Batches<R> {
    this.#assertOpen();
    return readSource(this.source, readRequest(options), () => this.#assertOpen());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #create(name: string, settings: GroupSettings, start: FeedStart): Promise<G> {
    if (this.#groups.has(name)) {
      const message = `there is a group ${JSON.stringify(name)} already: group() opens it`;
      throw new EhdbError("ALREADY_EXISTS", message, { group: name });
    }
    const { epoch } = this.source;
    const next = await sequenceAt(this.source, start);
    const head = { name, settings, isPaused: false, next, epoch, generation: 1 };
    // One of this name may be left, and two would be found at the next open.
    await this.#clean();
    const contents = new GroupContents(this.#context, this.#nextId++, head);
    contents.records.touchHead();
    try {
      await contents.save();
    } catch (error) {
      this.#leftovers = [...this.#leftovers, groupKey(contents.id)];
      throw error;
    }
    const group = this.#parts.makeGroup(contents);
    this.#groups.set(name, group);
    return group;
  }

  async #clean(): Promise<void> {
    const changes = this.#leftovers.map((key) => ({ key, value: undefined }));
    await new Saver(this.#parts.state, () => ({ changes, putBack: () => undefined })).save();
    this.#leftovers = [];
  }

  async #delete(name: string, drops: boolean): Promise<void> {
    const group = this.#groups.get(name);
    if (group === undefined) throw noGroup(name);
    const { inFlight, waiting, parked } = group.contents.info();
    if (!drops && inFlight + waiting + parked > 0) {
      const message = `${name} has ${inFlight} messages in flight, ${waiting} that wait and ${parked} parked. Finish them, or delete it with pending: "drop"`;
      throw new EhdbError("CONFLICT", message, { group: name, inFlight, waiting, parked });
    }
    await group.delete();
    this.#groups.delete(name);
  }

  async #close(): Promise<void> {
    const groups = [...this.#groups.values()];
    for (const group of groups) group.wake();
    await this.#line;
    const results = await Promise.allSettled(groups.map((group) => group.finish()));
    await this.#parts.release();
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  #group(name: string): G {
    this.#assertOpen();
    const group = this.#groups.get(checkName("name", name));
    if (group === undefined) throw noGroup(name);
    return group;
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#line.then(work, work);
    this.#line = run.catch(() => undefined);
    return run;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new EhdbError("CLOSED", "the feed is closed. Open it again");
  }
}
