import { EhdbError } from "@ehdb/contracts";
import type { GroupSettings } from "./call-options.ts";
import type { PendingMessage } from "./pending-message.ts";

/*
 * What a feed keeps in its state: JSON under keys, where `<id>` is a group's number.
 *
 *     g/<id>             its head
 *     p/<id>/<page>      what is pending of 256 sequences
 *     a/<id>/<sequence>  a message aside: parked, or replayed and pending
 *     c/<id>/<sequence>  a message that somebody's commit has acknowledged
 *
 * Pages and commits count in their generation only: moving a group begins another.
 */
const version = 1;

export interface GroupHead {
  readonly name: string;
  readonly settings: GroupSettings;
  readonly isPaused: boolean;
  /** The sequence that is looked at next; pages say nothing from there on. */
  readonly next: number;
  /** The source's, when that was set. */
  readonly epoch: number;
  readonly generation: number;
}

/** A message as it's pending. */
export interface PendingEntry {
  readonly sequence: number;
  readonly deliveries: number;
  /** It's leased, until `dueAt`; else it waits until then. */
  readonly isLeased: boolean;
  readonly dueAt: number;
  readonly member: string;
}

export interface Parked {
  readonly deliveries: number;
  readonly reason: string;
  readonly parkedAt: number;
  /** Of a group in order of keys. */
  readonly key: string | undefined;
}

/** Messages one behind the other that are alike: sequence of the first, how many, and what they have in common. */
type Run = [sequence: number, count: number, deliveries: number, isLeased: 0 | 1, dueAt: number, member: string];

export type StateKey =
  | { readonly kind: "group"; readonly id: number }
  | { readonly kind: "page" | "aside" | "commit"; readonly id: number; readonly number: number };

const kinds = { g: "group", p: "page", a: "aside", c: "commit" } as const;

export const groupKey = (id: number): string => `g/${id}`;
export const pageKey = (id: number, page: number): string => `p/${id}/${page}`;
export const asideKey = (id: number, sequence: number): string => `a/${id}/${sequence}`;
export const commitKey = (id: number, sequence: number): string => `c/${id}/${sequence}`;

/** CORRUPT for a key that no feed has written. */
export function parseKey(key: string): StateKey {
  const parts = /^([gpac])\/(\d+)(?:\/(\d+))?$/.exec(key);
  const kind = kinds[parts?.[1] as keyof typeof kinds];
  const id = Number(parts?.[2]);
  if (kind === "group" && parts?.[3] === undefined) return { kind, id };
  if (kind !== undefined && kind !== "group" && parts?.[3] !== undefined) return { kind, id, number: Number(parts[3]) };
  throw new EhdbError(
    "CORRUPT",
    `the state of a feed has the key ${JSON.stringify(key)}: something else has written to it`,
    { key },
  );
}

export function encodeHead(head: GroupHead): Uint8Array {
  const { settings } = head;
  // JSON has no Infinity.
  const maxDeliver = settings.maxDeliver === Infinity ? null : settings.maxDeliver;
  return encode({ ...head, settings: { ...settings, maxDeliver } });
}

export function decodeHead(key: string, value: Uint8Array): GroupHead {
  const { name, settings, isPaused, next, epoch, generation } = decode(key, value) as GroupHead;
  const maxDeliver = (settings.maxDeliver as number | null) ?? Infinity;
  return { name, settings: { ...settings, maxDeliver }, isPaused, next, epoch, generation };
}

export function encodePage(generation: number, messages: readonly PendingMessage[]): Uint8Array {
  const runs: Run[] = [];
  let last: Run | undefined;
  for (const message of inOrder(messages)) {
    const { sequence, deliveries, isLeased, dueAt, member } = entryOf(message);
    const continues =
      last !== undefined &&
      last[0] + last[1] === sequence &&
      last[2] === deliveries &&
      last[3] === Number(isLeased) &&
      last[4] === dueAt &&
      last[5] === member;
    if (continues) (last as Run)[1]++;
    else runs.push((last = [sequence, 1, deliveries, isLeased ? 1 : 0, dueAt, member]));
  }
  return encode({ generation, runs });
}

export function decodePage(
  key: string,
  value: Uint8Array,
): { readonly generation: number; readonly entries: readonly PendingEntry[] } {
  const { generation, runs } = decode(key, value) as { generation: number; runs: readonly Run[] };
  const entries = runs.flatMap(([first, count, deliveries, isLeased, dueAt, member]) =>
    Array.from({ length: count }, (_, index) => ({
      sequence: first + index,
      deliveries,
      isLeased: isLeased === 1,
      dueAt,
      member,
    })),
  );
  return { generation, entries };
}

export const encodeParked = (parked: Parked): Uint8Array => encode({ parked });

export const encodeReplayed = (message: PendingMessage): Uint8Array => encode({ replayed: entryOf(message) });

export type Aside =
  | { readonly parked: Parked; readonly replayed?: undefined }
  | { readonly replayed: PendingEntry; readonly parked?: undefined };

export const decodeAside = (key: string, value: Uint8Array): Aside => decode(key, value) as Aside;

export const encodeCommit = (generation: number): Uint8Array => encode({ generation });

export const decodeCommit = (key: string, value: Uint8Array): number =>
  (decode(key, value) as { generation: number }).generation;

/** A delivery that nothing has ended is a lease, though it may be over. */
function entryOf({ sequence, deliveries, delivery, dueAt, member }: PendingMessage): PendingEntry {
  return { sequence, deliveries, isLeased: delivery !== 0, dueAt, member };
}

function inOrder(messages: readonly PendingMessage[]): readonly PendingMessage[] {
  for (let place = 1; place < messages.length; place++) {
    if ((messages[place - 1] as PendingMessage).sequence > (messages[place] as PendingMessage).sequence)
      return messages.toSorted((a, b) => a.sequence - b.sequence);
  }
  return messages;
}

function encode(value: object): Uint8Array {
  return Buffer.from(JSON.stringify({ version, ...value }));
}

/** UNSUPPORTED_VERSION, CORRUPT. */
function decode(key: string, value: Uint8Array): unknown {
  let found: { readonly version: unknown };
  try {
    found = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString()) as typeof found;
  } catch (error) {
    throw new EhdbError(
      "CORRUPT",
      `what the state of a feed has under ${key} is no JSON: something else has written to it`,
      { key },
      error,
    );
  }
  if (found.version === version) return found;
  const message = `what the state of a feed has under ${key} is of version ${String(found.version)}, and this version of @ehdb/feed reads ${version}: open it with the version that wrote it, or a newer one`;
  throw new EhdbError("UNSUPPORTED_VERSION", message, { key });
}
