/** A fault of the machine, and what a store must make of it. A package's `faults/index.ts` exports a list of them as `faults`. */
export interface Fault {
  readonly name: string;
  /**
   * Brings the fault about and looks at what the store does. Resolves with what was seen, in a few words; throws when that is wrong,
   * and NotInjected when this machine can't have the fault.
   */
  readonly inject: (context: FaultContext) => Promise<string>;
}

export interface FaultContext {
  /** An empty directory, the fault's own. */
  readonly directory: string;
  /** Node's options for programs in TypeScript: how they are resolved and read. */
  readonly nodeOptions: readonly string[];
}

/** The fault couldn't be brought about; the message says what is missing, and how to get it. */
export class NotInjected extends Error {
  override readonly name = "NotInjected";
}
