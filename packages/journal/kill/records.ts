import { SeededRandom } from "@ehdb/harness";

const separator = 0x0a;

/**
 * A record that says who wrote it and can be told from any other: its id, and bytes that follow from the id. Mostly a few hundred
 * bytes, one in 64 up to 64 KiB.
 */
export function recordOf(id: string): Uint8Array {
  const random = new SeededRandom(seedOf(id));
  const bytes = random.integer(64) === 0 ? random.integer(64 * 1024) : random.integer(600);
  return Buffer.concat([Buffer.from(`${id}\n`), random.bytes(bytes)]);
}

export function idOf(data: Uint8Array): string {
  const end = data.indexOf(separator);
  return Buffer.from(data.subarray(0, end < 0 ? 0 : end)).toString("latin1");
}

export function recordIntact(data: Uint8Array): boolean {
  return Buffer.compare(data, recordOf(idOf(data))) === 0;
}

/** FNV-1a. */
function seedOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
