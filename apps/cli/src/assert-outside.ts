import { relative, resolve } from "node:path";
import { EhdbError } from "@ehdb/contracts";

/** A copy within what it's copied from would be a part of it. */
export function assertOutside(from: string, to: string): void {
  if (/^(\.\.|\/|[A-Za-z]:)/.test(relative(resolve(from), resolve(to)))) return;
  const message = `${to} lies within ${from}: give a directory beside it, best on another disk`;
  throw new EhdbError("INVALID_OPTION", message, { to });
}
