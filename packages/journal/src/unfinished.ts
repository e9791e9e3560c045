import { dirname, join } from "node:path";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import type { KeyRing } from "./api.ts";
import { directoryExists } from "./directory.ts";
import { openWith } from "./journal.ts";
import type { OpenJournal } from "./journal.ts";
import { resolveOptions } from "./options.ts";

export interface JournalToMake {
  readonly host: Host;
  /** A directory that is empty or missing. */
  readonly to: string;
  readonly encryption: KeyRing | undefined;
  readonly leastEpoch: number;
}

/**
 * Makes a journal that is whole when it has its name: until then it stands beside, as `<to>.unfinished-<id>`, which a crash leaves behind.
 * ALREADY_EXISTS when `to` holds something.
 */
export async function makeJournal<T>(
  { host, to, encryption, leastEpoch }: JournalToMake,
  fill: (target: OpenJournal) => Promise<T>,
): Promise<T> {
  const { files } = host;
  await assertEmpty(host, to);
  const unfinished = `${to}.unfinished-${host.random.id()}`;
  const options = { dir: unfinished, host, durability: "async", ...(encryption === undefined ? {} : { encryption }) };
  let target: OpenJournal | undefined;
  try {
    target = await openWith({ ...resolveOptions(options as Parameters<typeof resolveOptions>[0]), leastEpoch });
    const filled = await fill(target);
    const { state } = await target.close();
    if (state !== "clean") {
      const message = `the new journal couldn't be written to its end (${state}). Make it in another directory`;
      throw new EhdbError("IO_ERROR", message, { to });
    }
    await files.rename(unfinished, to);
    await files.syncDirectory(dirname(to));
    return filled;
  } catch (error) {
    await target?.close();
    // What can't be removed either is no worse than what one leaves behind that is cut off.
    await removeTree(host, unfinished).catch(() => undefined);
    throw ofTheMachine(error);
  }
}

/** What the new journal's writer tells those who go on with it, who are none; what the machine said is for the caller. */
function ofTheMachine(error: unknown): unknown {
  return isEhdbError(error, "POISONED", "OUTCOME_UNKNOWN") ? (error.cause ?? error) : error;
}

export async function assertEmpty(host: Host, to: string): Promise<void> {
  if (!(await directoryExists(host, to, "to")) || (await host.files.list(to)).length === 0) return;
  throw new EhdbError("ALREADY_EXISTS", `${to} isn't empty. Give a directory that is empty or missing`, { to });
}

async function removeTree({ files }: Host, directory: string): Promise<void> {
  for (const name of await files.list(directory)) await files.remove(join(directory, name));
  await files.removeDirectory(directory);
}
