import type { Host } from "@ehdb/host";

/** Why there is nothing more to be done: a reader, as `head`, has enough. */
export class NobodyReads extends Error {
  constructor() {
    super("nobody reads standard output any more");
  }
}

/** All that the program touches outside of stores. */
export interface Io {
  readonly host: Host;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ctrl-C, a request to end, or that what is printed can't be: `NobodyReads`, or an error that somebody else tells. */
  readonly signal: AbortSignal;
  /** Standard output; resolves when there is room for more. */
  out(text: string): Promise<void>;
  err(text: string): void;
  /** The terminal of standard error, for what moves; `undefined` where there is none. */
  readonly terminal: NodeJS.WriteStream | undefined;
  /** The lines of a file, or of standard input for `-`. */
  lines(path: string): AsyncIterable<string>;
  /** A small file as it is. */
  bytes(path: string): Promise<Uint8Array>;
}
