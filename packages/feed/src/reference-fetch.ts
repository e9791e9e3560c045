import { isEhdbError } from "@ehdb/contracts";
import type { FeedMessage, FeedSource } from "@ehdb/contracts";
import type { FetchRequest } from "./call-options.ts";
import { assertGroupContinues } from "./continues.ts";
import { Message } from "./message.ts";
import type { Deliveries } from "./message.ts";
import type { Out, ReferenceContents } from "./reference-contents.ts";
import { compacted } from "./start.ts";
import { subjectFilter } from "./subjects.ts";

const readAtOnce = 1_000;

interface New<R> {
  readonly record: R;
  readonly sequence: number;
  readonly key: string;
  readonly isWanted: boolean;
}

/** What there is to lend now: first everything is read, then it's lent in one step. */
export async function fetchOnce<R>(
  contents: ReferenceContents<R>,
  deliveries: Deliveries<R>,
  request: FetchRequest,
  assertThere: () => void,
): Promise<FeedMessage<R>[]> {
  const { source } = contents.context;
  const { epoch, first } = source;
  if (first > contents.next) throw compacted(contents.next, first);
  await assertGroupContinues(source, contents.name, contents.next - 1, contents.epoch);
  const waiting = contents.inOrder().map(({ sequence }) => sequence);
  const there = await readEach(source, waiting);
  const { fresh, end } = await readNew(contents, request.limit);
  // A fetch may have been overtaken by a delete.
  assertThere();
  contents.epoch = epoch;
  const given = lendAgain(contents, deliveries, request, there);
  lendNew(contents, deliveries, request, { fresh, end }, given);
  return given;
}

/** The records at these sequences, one by one; `undefined` for what is gone. */
export async function readEach<R>(
  source: FeedSource<R>,
  sequences: readonly number[],
): Promise<Map<number, R | undefined>> {
  const found = new Map<number, R | undefined>();
  for (const sequence of sequences) found.set(sequence, await readOne(source, sequence));
  return found;
}

async function readOne<R>(source: FeedSource<R>, sequence: number): Promise<R | undefined> {
  try {
    for await (const [record] of source.read(sequence, 1))
      return record !== undefined && source.sequenceOf(record) === sequence ? record : undefined;
  } catch (error) {
    if (!isEhdbError(error, "COMPACTED")) throw error;
  }
  return undefined;
}

/** So many new ones that are wanted, and where it has seen all of that. */
async function readNew<R>(
  contents: ReferenceContents<R>,
  limit: number,
): Promise<{ readonly fresh: readonly New<R>[]; readonly end: number }> {
  const { source } = contents.context;
  const { settings, out } = contents;
  const most = settings.order === "none" ? limit : settings.maxInFlight + out.size;
  const wants = subjectFilter(settings.subjects);
  const fresh: New<R>[] = [];
  let end = contents.next;
  for (;;) {
    const { last } = source;
    const records: R[] = [];
    for await (const batch of source.read(end, readAtOnce)) records.push(...batch);
    for (const record of records) {
      const sequence = source.sequenceOf(record);
      const isWanted = wants(source.subjectOf(record));
      fresh.push({ record, sequence, key: source.keyOf(record), isWanted });
      end = sequence + 1;
    }
    // What isn't there any more at the end was seen, too.
    if (records.length < readAtOnce) return { fresh, end: Math.max(end, last + 1) };
    if (fresh.filter(({ isWanted }) => isWanted).length >= most) return { fresh, end };
  }
}

function lendAgain<R>(
  contents: ReferenceContents<R>,
  deliveries: Deliveries<R>,
  request: FetchRequest,
  there: ReadonlyMap<number, R | undefined>,
): FeedMessage<R>[] {
  const given: FeedMessage<R>[] = [];
  for (;;) {
    const next = contents.ready().find(({ sequence }) => there.has(sequence));
    if (next === undefined) return given;
    const record = there.get(next.sequence);
    if (record === undefined) contents.out.delete(next.sequence);
    else if (room(contents, given, request) === 0) return given;
    else given.push(lend(contents, deliveries, next, record, request));
  }
}

function lendNew<R>(
  contents: ReferenceContents<R>,
  deliveries: Deliveries<R>,
  request: FetchRequest,
  { fresh, end }: { readonly fresh: readonly New<R>[]; readonly end: number },
  given: FeedMessage<R>[],
): void {
  const { out, parked, doneAhead, settings } = contents;
  for (const { record, sequence, key, isWanted } of fresh) {
    if (room(contents, given, request) === 0 || out.size >= settings.maxInFlight) return;
    contents.next = sequence + 1;
    if (!isWanted || out.has(sequence) || parked.has(sequence) || doneAhead.delete(sequence)) continue;
    const isHeldUp = settings.order === "key" && [...out.values()].some((other) => other.key === key);
    const state = { deliveries: 0, delivery: undefined, member: "", dueAt: 0, isReplayed: false };
    const message: Out<R> = { sequence, key, ...state };
    out.set(sequence, message);
    if (!isHeldUp) given.push(lend(contents, deliveries, message, record, request));
  }
  if (room(contents, given, request) > 0) contents.next = Math.max(contents.next, end);
}

function lend<R>(
  contents: ReferenceContents<R>,
  deliveries: Deliveries<R>,
  out: Out<R>,
  record: R,
  { member, leaseMillis }: FetchRequest,
): FeedMessage<R> {
  const source: FeedSource<R> = contents.context.source;
  out.deliveries++;
  out.member = member;
  out.dueAt = contents.now + (leaseMillis ?? contents.settings.leaseSeconds * 1000);
  out.delivery = new Message(deliveries, source, record, { deliveries: out.deliveries, leasedUntil: out.dueAt });
  return out.delivery;
}

function room<R>(contents: ReferenceContents<R>, given: readonly unknown[], { limit }: FetchRequest): number {
  if (contents.isPaused) return 0;
  const leased = [...contents.out.values()].filter((out) => contents.isLeased(out)).length;
  return Math.max(0, Math.min(limit - given.length, contents.settings.maxInFlight - leased));
}
