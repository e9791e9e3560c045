import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { EhdbError } from "@ehdb/contracts";

/** A copy within what it's copied from would be a part of it. */
export async function assertOutside(from: string, to: string): Promise<void> {
  const path = relative(await realPath(from), await realPath(to));
  if (path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)) return;
  const message = `${to} lies within ${from}: give a directory beside it, best on another disk`;
  throw new EhdbError("INVALID_OPTION", message, { to });
}

/** Without symbolic links, as far as there is something. */
async function realPath(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch {
    const parent = dirname(whole);
    return parent === whole ? whole : join(await realPath(parent), basename(whole));
  }
}
