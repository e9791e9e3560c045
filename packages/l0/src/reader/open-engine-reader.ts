import { join } from "node:path";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import { openJournalReader } from "@ehdb/journal";
import type { ReadOnlyJournal } from "@ehdb/journal";
import { readManifest } from "../manifest/read-manifest.ts";
import type { EngineReader, EngineReaderOptions } from "./api.ts";
import { OpenEngineReader } from "./engine-reader.ts";
import { FollowedStore } from "./followed-store.ts";
import { resolveReaderOptions } from "./options.ts";
import type { ResolvedReaderOptions } from "./options.ts";

/**
 * Opens a store to read it, beside a writer in this or another process, or without one. Takes no lock and writes nothing. Errors:
 * INVALID_OPTION, NOT_FOUND, CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function openEngineReader(options: EngineReaderOptions): Promise<EngineReader> {
  const resolved = resolveReaderOptions(options);
  const { host, dir } = resolved;
  // First, because its error says what is wrong with a directory that holds no store.
  const first = await readManifest({ host, dir });
  const followed = new FollowedStore(resolved, first, () => openJournal(resolved));
  try {
    await followed.look();
  } catch (error) {
    await followed.close();
    throw error;
  }
  return new OpenEngineReader(resolved, followed);
}

async function openJournal({ host, dir, encryption, pollMillis }: ResolvedReaderOptions): Promise<ReadOnlyJournal> {
  return await openJournalReader({
    dir: join(dir, "journal"),
    host,
    pollMillis,
    ...(encryption === undefined ? {} : { encryption }),
  }).catch((error: unknown) => {
    throw isEhdbError(error, "NOT_FOUND") ? withoutJournal(dir, error) : error;
  });
}

/** An open makes the journal before the manifest. */
function withoutJournal(dir: string, cause: EhdbError): EhdbError {
  const file = join(dir, "journal");
  const message = `${file} is missing, while there is a manifest: the store has lost its journal. Nothing was changed. Open a copy of the store from before`;
  return new EhdbError("CORRUPT", message, { file }, cause);
}
