import { EhdbError } from "@ehdb/contracts";

/**
 * `value` as JSON text, by the rules of `JSON.stringify`; `undefined` for what JSON leaves out. `root` names the value in errors:
 * INVALID_ARGUMENT, with the `path`, for what JSON refuses.
 */
export function encodeJson(value: unknown, root: string): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw refusal(value, root, error);
  }
}

/** `data.items[0]["a key"]` */
export function pathOf(root: string, keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === "number" || (typeof key === "string" && /^\d+$/.test(key))) return `${path}[${key}]`;
    if (typeof key === "string" && /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) return `${path}.${key}`;
    return `${path}[${typeof key === "symbol" ? String(key) : JSON.stringify(key)}]`;
  }, root);
}

/** What `JSON.stringify` threw says neither where nor what: that is looked for only now. */
function refusal(value: unknown, root: string, error: unknown): EhdbError {
  if (error instanceof RangeError && error.message.includes("string length")) {
    const message = `${root} is larger than any write may be: split it, or keep it elsewhere and store where`;
    return new EhdbError("TOO_LARGE", message, { path: root }, error);
  }
  const found = search(value, root);
  const path = found?.path ?? root;
  const message =
    found === undefined
      ? `${root} can't be made JSON: ${error instanceof Error ? error.message : String(error)}`
      : `${path} is ${found.what}, which JSON doesn't have: ${found.remedy}`;
  return new EhdbError("INVALID_ARGUMENT", message, { path }, error);
}

interface Refused {
  readonly path: string;
  readonly what: string;
  readonly remedy: string;
}

function search(value: unknown, root: string): Refused | undefined {
  try {
    return refusedIn(value, "", [], new Set(), root);
  } catch {
    // Nested deeper than the stack, or a `toJSON` or getter threw.
    return undefined;
  }
}

/** The first place that JSON refuses, in its order. `above`: the objects around this one. */
function refusedIn(
  raw: unknown,
  key: string,
  keys: readonly string[],
  above: Set<object>,
  root: string,
): Refused | undefined {
  const value = jsonOf(raw, key);
  if (isBigint(value)) {
    return { path: pathOf(root, keys), what: "a bigint", remedy: "store it as a string" };
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (above.has(value)) {
    const remedy = "store an id in its place";
    return { path: pathOf(root, keys), what: "an object that contains itself", remedy };
  }
  above.add(value);
  for (const [key, item] of Object.entries(value)) {
    const found = refusedIn(item, key, [...keys, key], above, root);
    if (found !== undefined) return found;
  }
  above.delete(value);
  return undefined;
}

/** Bare or boxed. */
const isBigint = (value: unknown): boolean =>
  typeof value === "bigint" || Object.prototype.toString.call(value) === "[object BigInt]";

function jsonOf(value: unknown, key: string): unknown {
  if ((typeof value !== "object" && typeof value !== "bigint") || value === null) return value;
  const { toJSON } = Object(value) as { toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value, key) as unknown) : value;
}
