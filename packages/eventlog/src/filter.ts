import type { EventFilter } from "@ehdb/contracts";

/** Which events a filter wants, by what was stored. */
export type EventPredicate = (event: { readonly type: string; readonly stream: string }) => boolean;

/** `undefined` when all are wanted. */
export function predicateOf({ types, stream, streamPrefix }: EventFilter): EventPredicate | undefined {
  if (types === undefined && stream === undefined && streamPrefix === undefined) return undefined;
  const wanted = types === undefined ? undefined : new Set(types);
  return (event) =>
    (wanted === undefined || wanted.has(event.type)) &&
    (stream === undefined || stream === event.stream) &&
    (streamPrefix === undefined || event.stream.startsWith(streamPrefix));
}
