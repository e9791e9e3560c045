import type { ErrorCode, ErrorData } from "@ehdb/contracts";

/** A record as it was read. */
export interface Found {
  readonly sequence: number;
  readonly id: string;
  readonly intact: boolean;
}

/** What became of one append. */
export interface Outcome {
  readonly id: string;
  /** Where it is durable; `undefined` when the append was refused. */
  readonly sequence?: number;
  readonly refusal?: Refusal;
}

/** An error that crossed a pipe. `code` is missing when it wasn't one of ours: then it is a defect. */
export interface Refusal {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly data?: ErrorData;
}

/** An order for the program, one line each. */
export interface Order {
  readonly number: number;
  readonly name: string;
  readonly values: readonly unknown[];
}

/** What the program says, one line each: answers to its orders, and what happens meanwhile. */
export type Telling =
  | { readonly says: "ready" }
  | { readonly says: "answer"; readonly number: number; readonly value?: unknown; readonly refusal?: Refusal }
  | { readonly says: "acknowledged"; readonly outcome: Outcome }
  | { readonly says: "read"; readonly records: readonly Found[] }
  | { readonly says: "caught up"; readonly sequence: number }
  | { readonly says: "ended"; readonly refusal: Refusal };
