import { EhdbError } from "@ehdb/contracts";
import type { KeyRing } from "@ehdb/journal";
import type { Io } from "./io.ts";

export interface KeyOptions {
  /** `ID=FILE`, each. */
  readonly key?: readonly string[];
  readonly currentKey?: string;
}

export interface GivenKeys {
  readonly ring: KeyRing;
  /** By `--key`, and not only by variables, which every command of a shell has. */
  readonly byFile: readonly string[];
  /** Whether `--current-key` names the one that encrypts. */
  readonly isNamed: boolean;
}

const prefix = "EHDB_KEY_";
const keyBytes = 32;

/** The keys of files and of variables; a key itself is never on the command line, where everybody on the machine sees it. */
export async function keysFrom(io: Io, { key = [], currentKey }: KeyOptions): Promise<GivenKeys | undefined> {
  const keys = new Map<string, Uint8Array>();
  for (const given of key) {
    const at = given.indexOf("=");
    if (at < 1)
      throw wrong(
        "--key",
        "wants ID=FILE: the key's id, and a file that holds its 32 bytes, plain, as hex or as Base64",
      );
    const [id, path] = [given.slice(0, at), given.slice(at + 1)];
    keys.set(id, keyIn(await io.bytes(path), `the file ${path}`));
  }
  const byFile = [...keys.keys()];
  for (const [name, value] of Object.entries(io.env)) {
    const id = name.slice(prefix.length);
    if (!name.startsWith(prefix) || id === "" || value === undefined || keys.has(id)) continue;
    keys.set(id, keyIn(Buffer.from(value), `the variable ${name}`));
  }
  const [first] = keys.keys();
  if (first === undefined) {
    if (currentKey !== undefined)
      throw wrong("--current-key", `is ${currentKey}, and no key is given: add --key ID=FILE`);
    return undefined;
  }
  const current = currentKey ?? first;
  if (!keys.has(current))
    throw wrong("--current-key", `is ${current}, and the keys that are given are ${[...keys.keys()].join(", ")}`);
  return { ring: { current, keys: Object.fromEntries(keys) }, byFile, isNamed: currentKey !== undefined };
}

/** 32 bytes, plain or written as text. What is wrong is told without a byte of it. */
function keyIn(bytes: Uint8Array, where: string): Uint8Array {
  if (bytes.length === keyBytes) return bytes;
  const text = Buffer.from(bytes).toString("latin1").trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return Buffer.from(text, "base64");
  throw wrong(
    "the key",
    `in ${where} has ${bytes.length} bytes: it must be 32 bytes, 64 hex digits, or 44 characters of Base64`,
  );
}

export function wrong(option: string, what: string): EhdbError {
  return new EhdbError("INVALID_OPTION", `${option} ${what}`, { option });
}
