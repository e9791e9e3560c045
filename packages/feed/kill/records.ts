import type { FeedMessage, NewEvent, RecordedEvent } from "@ehdb/contracts";
import { SeededRandom } from "@ehdb/harness";

/** The groups: each job is one group's. Members of `plain` do all that can be done; in `ordered` keys keep their order, and jobs end with an outcome. */
export const groupNames = ["plain", "ordered"] as const;
export type GroupName = (typeof groupNames)[number];

export type JobEvent = RecordedEvent;
export type Job = FeedMessage<JobEvent>;

/** What was stated because of a job, in one commit with its acknowledgement. */
export interface Outcome {
  readonly job: number;
  readonly key: string;
}

/** What a member saw before it went on: whoever gets the job later is told of more deliveries. */
export interface Sight {
  readonly job: number;
  readonly deliveries: number;
}

export const outcomeType = "outcome";
export const sightType = "sight";
export const jobType = (group: GroupName): string => `job.${group}`;

export function jobOf(group: GroupName, id: string): NewEvent {
  return { type: jobType(group), id, data: dataOf(id) };
}

/** `undefined` for events that are no jobs. */
export const groupOfType = (type: string): GroupName | undefined => groupNames.find((group) => jobType(group) === type);

export function isDataOf(id: string, data: unknown): boolean {
  return data instanceof Uint8Array && Buffer.compare(data, dataOf(id)) === 0;
}

/** Bytes that follow from the id, so that they can be told from any other's. */
function dataOf(id: string): Uint8Array {
  const random = new SeededRandom(seedOf(id));
  return random.bytes(random.integer(300));
}

/** FNV-1a. */
function seedOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
