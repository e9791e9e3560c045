import type { EventFilter } from "@ehdb/contracts";
import type { Command as Parser } from "commander";
import type { CommonOptions } from "./session.ts";
import { several, wholeNumber } from "./whole-number.ts";

/** Which events are wanted. */
export interface EventOptions extends CommonOptions {
  readonly after?: number;
  readonly limit?: number;
  readonly stream?: string;
  readonly streamPrefix?: string;
  readonly type?: readonly string[];
}

export function eventOptions(parser: Parser): void {
  parser
    .option("--after <position>", "go on behind this position", wholeNumber(0))
    .option("--limit <count>", "at most so many", wholeNumber(1))
    .option("--stream <name>", "only of this stream")
    .option("--stream-prefix <text>", "only of streams whose names begin so")
    .option("--type <name>", "only of this type; several times: of one of these", several);
}

export function filterOf({ stream, streamPrefix, type }: EventOptions): EventFilter {
  return {
    ...(stream === undefined ? {} : { stream }),
    ...(streamPrefix === undefined ? {} : { streamPrefix }),
    ...(type === undefined ? {} : { types: type }),
  };
}
