/** What an event carries, before it has an id. */
export interface Payload {
  /** The stream that it belongs to in an event log. */
  readonly stream: string;
  readonly type: string;
  /** JSON text in UTF-8, an object. */
  readonly data: Uint8Array;
}
