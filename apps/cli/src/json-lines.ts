import type { LogRecord, MapRecord, RecordedEvent } from "@ehdb/contracts";

/** An event as a line. Bytes stand as Base64 under a name of their own, so that JSON that looks like it isn't taken for it. */
export function eventLine({ position, stream, version, id, type, time, data, metadata }: RecordedEvent): string {
  const content = data instanceof Uint8Array ? { dataBase64: base64(data) } : { data };
  return `${JSON.stringify({ position, stream, version, id, type, time, ...content, metadata })}\n`;
}

export function logLine({ sort, key, version, revision, time, id, payload }: LogRecord): string {
  return `${JSON.stringify({ sort, key, version, revision, time, id, ...payloadOf(payload) })}\n`;
}

export function mapLine({ key, revision, time, payload }: MapRecord): string {
  return `${JSON.stringify({ key, revision, time, ...payloadOf(payload) })}\n`;
}

/** As text where it is text. */
function payloadOf(payload: Uint8Array): { payload: string } | { payloadBase64: string } {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { payload: text } : { payloadBase64: base64(payload) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
