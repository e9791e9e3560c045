import { join } from "node:path";
import { EhdbError } from "@ehdb/contracts";
import { newestKeyId } from "@ehdb/journal";
import type { KeyRing } from "@ehdb/journal";
import { wrong } from "./keys.ts";
import type { Session } from "./session.ts";

/**
 * The keys to write a store with: as it's written already, so that the program whose store it is can go on. A variable alone encrypts no store that
 * is plain, and a key that is given isn't taken for another; only `--current-key` changes what encrypts.
 */
export async function writingKeys(session: Session, dir: string): Promise<{ readonly encryption?: KeyRing }> {
  const { keys } = session;
  if (keys === undefined) return {};
  const { ring, byFile, isNamed } = keys;
  const keyId = await newestKeyId({ dir: join(dir, "journal"), host: session.io.host });
  if (isNamed) return { encryption: ring };
  if (keyId === undefined) return { encryption: forNew(ring, byFile) };
  if (keyId === "") {
    if (byFile.length === 0) return {};
    const what = `gives ${byFile.join(", ")}, and ${dir} isn't encrypted: leave it away, or name with --current-key the one that encrypts from now on`;
    throw wrong("--key", what);
  }
  if (ring.keys[keyId] !== undefined) return { encryption: { ...ring, current: keyId } };
  const given = Object.keys(ring.keys).join(", ");
  const message = `${dir} is encrypted with the key ${keyId}, and given is ${given}: add --key ${keyId}=FILE, or name with --current-key the one that encrypts from now on`;
  throw new EhdbError("KEY_MISSING", message, { dir, keyId });
}

/** Of a new store: the first key that a file gives; of variables, which have no order, the only one. */
function forNew(ring: KeyRing, byFile: readonly string[]): KeyRing {
  const ids = Object.keys(ring.keys);
  if (byFile.length > 0 || ids.length === 1) return ring;
  throw wrong("--current-key", `must say which of ${ids.join(", ")} encrypts the new store: variables have no order`);
}
