import { SeededRandom } from "@ehdb/harness";

/** Bytes that follow from the id, so that they can be told from any other's: mostly a few hundred, one in 64 up to 32 KiB. */
export function payloadOf(id: string): Uint8Array {
  const random = new SeededRandom(seedOf(id));
  return random.bytes(random.integer(64) === 0 ? random.integer(32 * 1024) : random.integer(600));
}

export function isPayloadOf(id: string, payload: Uint8Array): boolean {
  return Buffer.compare(payload, payloadOf(id)) === 0;
}

/** FNV-1a. */
function seedOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
