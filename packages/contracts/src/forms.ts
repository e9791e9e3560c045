/** What values are by their form: those of another realm (a test runner's, a vm's) are as good as ours. */

/** A Uint8Array or Buffer; a proxy of one isn't. */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

export function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener, removeEventListener } = Object(value) as Partial<AbortSignal>;
  return (
    typeof aborted === "boolean" && typeof addEventListener === "function" && typeof removeEventListener === "function"
  );
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (Object(value) as { then?: unknown }).then === "function";
}
