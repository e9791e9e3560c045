import type { ConsumerGroup, FeedCapability, FeedMessage, GroupOptions } from "../feed.ts";
import { same } from "../rule-checks.ts";
import type { FeedRule, FeedSubject } from "./subject.ts";

export { holds, refused, same } from "../rule-checks.ts";

type Check = (subject: FeedSubject) => Promise<void>;

/** A rule of every driver. */
export function claim(name: string, check: Check): FeedRule {
  return { name, needs: [], check: onSubject(check) };
}

/** A rule of those that keep groups over a close; others must have none afterwards. */
export function lastingClaim(name: string, check: Check): FeedRule {
  const needs: readonly FeedCapability[] = ["persistence"];
  return { name, needs, check: onSubject(check), refused: onSubject(startsAnew) };
}

async function startsAnew(subject: FeedSubject): Promise<void> {
  await subject.feed.createGroup("g");
  await subject.feed.close();
  const again = await subject.reopen();
  same("groups of a feed that doesn't keep them", await again.feed.groups(), []);
  await again.feed.close();
}

function onSubject(check: Check): FeedRule["check"] {
  return async (open) => {
    const subject = await open();
    try {
      await check(subject);
    } finally {
      await subject.close();
    }
  };
}

/** A group over records with these subjects. */
export async function groupOver(
  { feed, append }: FeedSubject,
  subjects: readonly string[],
  options: GroupOptions = {},
): Promise<ConsumerGroup<unknown>> {
  const group = await feed.createGroup("g", options);
  await append(...subjects.map((subject) => ({ subject })));
  return group;
}

export const sequences = (messages: readonly { readonly sequence: number }[]): number[] =>
  messages.map(({ sequence }) => sequence);

/** How often each was delivered, by sequence. */
export const deliveriesOf = (messages: readonly FeedMessage<unknown>[]): (readonly [number, number])[] =>
  messages.map(({ sequence, deliveries }) => [sequence, deliveries]);

/** One message, which must be there. */
export async function one(group: ConsumerGroup<unknown>, member = "m"): Promise<FeedMessage<unknown>> {
  const [message] = await group.fetch({ member, limit: 1 });
  if (message === undefined) throw new Error("a fetch gave nothing");
  return message;
}

export async function fetched(group: ConsumerGroup<unknown>, member = "m", limit?: number): Promise<number[]> {
  return sequences(await group.fetch({ member, ...(limit === undefined ? {} : { limit }) }));
}

/** What a group says of itself, as far as a rule asks. */
export async function figures(
  group: ConsumerGroup<unknown>,
): Promise<readonly [committed: number, delivered: number, inFlight: number, waiting: number, lag: number]> {
  const { committed, delivered, inFlight, waiting, lag } = await group.info();
  return [committed, delivered, inFlight, waiting, lag];
}

export const many = (count: number, subject = "a"): string[] => Array.from({ length: count }, () => subject);
