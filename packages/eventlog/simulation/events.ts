import type { NewEvent, RecordedEvent } from "@ehdb/contracts";

/** An event as it was read, in a form that can be compared. */
export interface Seen {
  readonly stream: string;
  readonly version: number;
  readonly position: number;
  readonly time: number;
  readonly id: string;
  readonly type: string;
  readonly content: string;
}

export function seen({ stream, version, position, time, id, type, data, metadata }: RecordedEvent): Seen {
  return { stream, version, position, time, id, type, content: contentOf({ type, data, metadata }) };
}

/** All that the caller says of an event but its id: what must be the same for a repetition. */
export function contentOf({ type, data, metadata }: Pick<NewEvent, "type" | "data" | "metadata">): string {
  return `${type} ${textOf(data)} ${textOf(metadata)}`;
}

function textOf(value: unknown): string {
  if (value === undefined) return "-";
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("latin1")}`;
  return JSON.stringify(value);
}

/** Which events a reader wants, said once more and not by the log's own filter. */
export interface Wanted {
  readonly types?: readonly string[];
  readonly stream?: string;
  readonly streamPrefix?: string;
}

export function wants(
  { types, stream, streamPrefix = "" }: Wanted,
  event: { readonly type: string; readonly stream: string },
): boolean {
  if (types !== undefined && !types.some((type) => type === event.type)) return false;
  return (
    (stream === undefined || event.stream === stream) && event.stream.slice(0, streamPrefix.length) === streamPrefix
  );
}
