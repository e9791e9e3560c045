import { EhdbError } from "@ehdb/contracts";

/** The length that the engine keeps, whatever a subclass says. */
const byteLength = Reflect.getOwnPropertyDescriptor(Reflect.getPrototypeOf(Uint8Array.prototype) ?? {}, "byteLength");
const byteLengthOf = Function.prototype.call.bind(byteLength?.get ?? (() => Number.NaN)) as (record: unknown) => number;
const nothing = new Uint8Array(0);

/** The bytes of a record. INVALID_ARGUMENT for what isn't one: nothing has been touched then. */
export function sizeOf(record: unknown): number {
  if (!(record instanceof Uint8Array)) throw notBytes(record === null ? "null" : typeof record);
  let size: number;
  try {
    size = byteLengthOf(record);
    // Its buffer may have been transferred away, or have shrunk below it.
    if (size === 0) nothing.set(record);
  } catch {
    throw notBytes("something that has no bytes: a proxy, or an array whose buffer was transferred or resized");
  }
  return size;
}

function notBytes(got: string): EhdbError {
  return new EhdbError("INVALID_ARGUMENT", `a record must be a Uint8Array or Buffer, not ${got}`, { got });
}
