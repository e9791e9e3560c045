import { join } from "node:path";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import { inspectStore, openEngine } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { holderOf } from "./lock-holder.ts";
import type { Holder } from "./lock-holder.ts";
import type { Session } from "./session.ts";
import { writingKeys } from "./writing-keys.ts";

/**
 * Opens a store that is there, to write, with all that it has; closes it at the end. What would be forgotten by an open with other options than
 * those of the program that writes otherwise is kept: `options` say what.
 */
export async function withEngine<T>(
  session: Session,
  dir: string,
  options: Partial<EngineOptions>,
  instead: string,
  use: (engine: DurableEngine) => Promise<T>,
): Promise<T> {
  const { host } = session.io;
  const { datasets } = await inspectStore({ dir, host, ...session.encryption });
  if (datasets.length === 0) throw new EhdbError("NOT_FOUND", `${dir} holds a store without a dataset`, { dir });
  const specs = datasets.map(({ name, order }) => ({ name, order }));
  const encryption = await writingKeys(session, dir);
  const engine = await lockedTold(dir, instead, () =>
    openEngine({ dir, host, datasets: specs, background: false, ...encryption, ...options }),
  );
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** LOCKED, with the process that holds the store and the call that does the same within it. */
export async function lockedTold<T>(dir: string, instead: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isEhdbError(error, "LOCKED")) throw error;
    const path = String(error.data["path"]);
    throw locked(dir, "written", instead, path, await holderOf(path), error);
  }
}

/** LOCKED for a store that a process has open, where the system tells. Nothing is locked: the store may be on a disk that can't be written. */
export async function assertUnheld(dir: string, instead: string): Promise<void> {
  const path = join(dir, "journal", "LOCK");
  const holder = await holderOf(path);
  if (holder !== undefined) throw locked(dir, "salvaged", instead, path, holder);
}

function locked(
  dir: string,
  what: string,
  instead: string,
  path: string,
  holder: Holder | undefined,
  cause?: EhdbError,
): EhdbError {
  const who =
    holder === undefined ? "another process has it open" : `process ${holder.pid} (${holder.command}) has it open`;
  const message = `${dir} can't be ${what} now: ${who}. Stop that process, or ${instead}`;
  return new EhdbError("LOCKED", message, { path, ...cause?.data, dir, pid: holder?.pid }, cause);
}
