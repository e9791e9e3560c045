import { EhdbError, invalidArgument } from "@ehdb/contracts";

/** The length that the engine keeps, whatever a subclass says. */
const byteLength = Reflect.getOwnPropertyDescriptor(Reflect.getPrototypeOf(Uint8Array.prototype) ?? {}, "byteLength");
const byteLengthOf = Function.prototype.call.bind(byteLength?.get ?? (() => Number.NaN)) as (record: unknown) => number;
const nothing = new Uint8Array(0);

/** The bytes of a record. INVALID_ARGUMENT for what isn't one: nothing has been touched then. */
export function sizeOf(record: unknown): number {
  if (!(record instanceof Uint8Array)) throw notBytes(record);
  let size: number;
  try {
    size = byteLengthOf(record);
    // Its buffer may have been transferred away, or have shrunk below it.
    if (size === 0) nothing.set(record);
  } catch {
    const message =
      "a record must be a Uint8Array or Buffer that has bytes: not a proxy, nor one whose buffer was transferred or resized";
    throw new EhdbError("INVALID_ARGUMENT", message, { argument: "record" });
  }
  return size;
}

function notBytes(record: unknown): EhdbError {
  return invalidArgument("a record", record, "a Uint8Array or Buffer", remedyFor(record));
}

/** How to make bytes of what was given. */
function remedyFor(record: unknown): string {
  if (typeof record === "string") return "Encode it: Buffer.from(text)";
  if (record instanceof ArrayBuffer || record instanceof SharedArrayBuffer) return "Wrap it: new Uint8Array(buffer)";
  if (ArrayBuffer.isView(record)) return "Give its bytes: new Uint8Array(it.buffer, it.byteOffset, it.byteLength)";
  if (Array.isArray(record)) return "Several records go into appendAll()";
  return typeof record === "object" && record !== null ? "Encode it: Buffer.from(JSON.stringify(it))" : "";
}
