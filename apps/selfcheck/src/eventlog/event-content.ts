import type { RecordedEvent } from "@ehdb/contracts";
import type { EventSource } from "../event-source.ts";

/** Where an event is. What it carries follows from its id. */
export type EventPlace = Pick<RecordedEvent, "id" | "stream" | "type" | "version" | "position">;

export const placeOf = ({ id, stream, type, version, position }: EventPlace): EventPlace => ({
  id,
  stream,
  type,
  version,
  position,
});

/** Whether data and metadata, as JSON with its keys in their order, are what was appended with this id: byte for byte. */
export function isAsAppended({ id, data, metadata }: RecordedEvent, source: EventSource): boolean {
  const number = source.numberOfId(id);
  if (number === undefined || data instanceof Uint8Array) return false;
  return JSON.stringify(data) === source.content(number) && JSON.stringify(metadata) === `{"number":${number}}`;
}

export const notAsAppended = ({ id, position }: EventPlace): string =>
  `position ${position}: the bytes of event ${id} are not those appended`;
