import type { Command as Parser } from "commander";
import type { CommonOptions, Session } from "./session.ts";

export interface Example {
  /** As it is typed: `./store` is a store that is there. */
  readonly line: string;
  readonly says: string;
}

/** One command of the program. */
export interface Command<O extends CommonOptions = CommonOptions> {
  readonly name: string;
  readonly summary: string;
  /** More than the summary: what it does to the store, and what it needs. */
  readonly about: string;
  /** Of its arguments: `<dir>`, `[file]`, each with what it is. */
  readonly args: readonly (readonly [name: string, what: string])[];
  readonly examples: readonly Example[];
  /** Whether it may encrypt what it writes. */
  readonly isWriter?: boolean;
  /** Its own options. */
  readonly options?: (parser: Parser) => void;
  /** Resolves with the exit code. */
  run(session: Session, args: readonly string[], options: O): Promise<number>;
}

/** The option, as it's written, of a whole number. */
export const store = ["<dir>", "the store's directory"] as const;
