/** Another embedded store doing the same work: durable appends under ascending numbers from 1, and a read of a range. */
export interface Peer {
  readonly name: string;
  /** Durable when it returns, or when its promise resolves. */
  append(sequence: number, record: Uint8Array): Promise<void> | void;
  /** One transaction. */
  appendAll(first: number, records: readonly Uint8Array[]): Promise<void> | void;
  /** Calls `each` for `count` records from `first` on, in order. */
  range(first: number, count: number, each: (record: Uint8Array) => void): Promise<void> | void;
  close(): Promise<void> | void;
}

export interface PeerKind {
  readonly name: string;
  /** Whether appends can wait side by side for one sync; a peer that holds the thread can't. */
  readonly concurrent: boolean;
  /** On an empty directory. */
  open(directory: string): Promise<Peer> | Peer;
}
