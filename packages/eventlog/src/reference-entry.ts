import type { EncodedEvent } from "./encoding.ts";
import type { PlacedEvent } from "./imported-event.ts";

/** Everything that ever happened to a reference log, one thing at a time: its state is what they make of it, in order. */
export type Entry =
  | { readonly kind: "opened"; readonly epoch: number }
  | {
      readonly kind: "appended";
      readonly stream: string;
      readonly time: number;
      readonly events: readonly EncodedEvent[];
    }
  | { readonly kind: "imported"; readonly events: readonly PlacedEvent[] }
  | { readonly kind: "truncated"; readonly stream: string; readonly beforeVersion: number }
  | { readonly kind: "deleted"; readonly stream: string }
  | { readonly kind: "acknowledged"; readonly consumer: string; readonly position: number }
  | { readonly kind: "forgotten"; readonly consumer: string }
  | { readonly kind: "reclaimed"; readonly firstPosition: number };

/** An entry as one line of JSON. Bytes become base64; texts stay as they were encoded. */
export function lineOf(entry: Entry): string {
  return JSON.stringify(entry, (_, value: unknown) => {
    // `toJSON` of a Buffer has been called before; what is encoded is a plain Uint8Array.
    return value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value;
  });
}

export function entryOf(line: string): Entry {
  return JSON.parse(line, (_, value: unknown) => {
    const { base64 } = Object(value) as { base64?: unknown };
    return typeof base64 === "string" ? Uint8Array.from(Buffer.from(base64, "base64")) : value;
  }) as Entry;
}
