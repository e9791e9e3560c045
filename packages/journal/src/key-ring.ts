import { describedOption, invalidOption, refuseUnknown } from "@ehdb/contracts";
import type { DecryptionKeys, KeyRing } from "./api.ts";
import { MAX_KEY_ID_BYTES } from "./format.ts";

const keyBytes = 32;
const form = "{ current: id, keys: { [id]: 32 bytes } }";

/** The keys of who writes, checked and copied. What is wrong is told by its form: a value may be a key in the wrong place. */
export function keyRing(ring: KeyRing | undefined): KeyRing | undefined {
  const keys = decryptionKeys(ring);
  if (keys === undefined) return undefined;
  const { current } = keys;
  if (current === undefined)
    throw invalidOption("encryption.current", undefined, `the id of the key that encrypts: ${form}`);
  return { ...keys, current };
}

/** The same for who only reads, and needs no current key. */
export function decryptionKeys(ring: DecryptionKeys | undefined): DecryptionKeys | undefined {
  if (ring === undefined) return undefined;
  if (!isRecord(ring)) throw describedOption("encryption", formOf(ring), form);
  refuseUnknown(ring, ["current", "keys"], "encryption.");
  const { current, keys } = ring;
  if (!isRecord(keys)) throw describedOption("encryption.keys", formOf(keys), "an object, { [id]: 32 bytes }");
  for (const [id, key] of Object.entries(keys)) checkKey(id, key);
  if (current !== undefined && !(typeof current === "string" && Object.hasOwn(keys, current))) {
    const ids = Object.keys(keys).map((id) => `"${id}"`);
    throw describedOption(
      "encryption.current",
      formOf(current),
      `the id of one of encryption.keys (${ids.join(", ")})`,
    );
  }
  // A copy: what the caller wipes or changes later doesn't reach the log.
  const copies = Object.fromEntries(Object.entries(keys).map(([id, key]) => [id, Uint8Array.from(key)]));
  return { ...(current === undefined ? {} : { current }), keys: copies };
}

function checkKey(id: string, key: unknown): void {
  const idBytes = Buffer.byteLength(id);
  if (idBytes < 1 || idBytes > MAX_KEY_ID_BYTES) {
    throw describedOption("encryption.keys", `an id of ${idBytes} bytes`, `ids of 1 to ${MAX_KEY_ID_BYTES} bytes`);
  }
  if (key instanceof Uint8Array && key.length === keyBytes) return;
  const wanted = `a Uint8Array of ${keyBytes} bytes${typeof key === "string" ? ' (Buffer.from(key, "hex"), if it is hexadecimal)' : ""}`;
  throw describedOption(`encryption.keys["${id}"]`, formOf(key), wanted);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  // No list, map or bytes: what has keys of its own kind would pass for an empty ring.
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** What something is, without a byte of it. */
function formOf(value: unknown): string {
  if (typeof value === "string") return `a string of ${value.length} characters`;
  if (value instanceof Uint8Array) return `one of ${value.length} bytes`;
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === "object" ? "another object" : `a ${typeof value}`;
}
