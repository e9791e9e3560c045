/** What an event carries, before it has an id. */
export interface Payload {
  readonly type: string;
  /** JSON text in UTF-8, an object. */
  readonly data: Uint8Array;
}
