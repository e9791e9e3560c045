import { SeededRandom } from "@ehdb/harness";

/** Bytes that follow from the id, so that they can be told from any other's: mostly a few hundred, one in 64 up to 32 KiB. */
export function dataOf(id: string): Uint8Array {
  const random = new SeededRandom(seedOf(id));
  return random.bytes(random.integer(64) === 0 ? random.integer(32 * 1024) : random.integer(600));
}

export function isDataOf(id: string, data: unknown): boolean {
  return data instanceof Uint8Array && Buffer.compare(data, dataOf(id)) === 0;
}

/** What had been answered before an event was appended, so that it must be true wherever the event is. */
export interface Beforehand {
  /** The position that the writer's consumer had acknowledged. */
  readonly acknowledged: number;
  /** The version at which the writer's scratch stream had been deleted. */
  readonly deletedAt: number;
}

/** Beside a writer's own stream: appended to and deleted again and again. */
export const scratchOf = (writer: string): string => `scratch/${writer}`;

/** One that goes on through all incarnations, so that it doesn't hold back what is reclaimed for ever. */
export const consumerOf = (writer: string): string => writer.slice(writer.indexOf(".") + 1);

/** FNV-1a. */
function seedOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
