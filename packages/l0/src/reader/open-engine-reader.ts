import { readManifest } from "../manifest/read-manifest.ts";
import type { EngineReader, EngineReaderOptions } from "./api.ts";
import { OpenEngineReader } from "./engine-reader.ts";
import { FollowedStore } from "./followed-store.ts";
import { openJournalBeside } from "./journal-beside.ts";
import { resolveReaderOptions } from "./options.ts";

/**
 * Opens a store to read it, beside a writer in this or another process, or without one. Takes no lock and writes nothing. Errors:
 * INVALID_OPTION, NOT_FOUND, CORRUPT, KEY_MISSING, WRONG_KEY, UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function openEngineReader(options: EngineReaderOptions): Promise<EngineReader> {
  const resolved = resolveReaderOptions(options);
  const { host, dir } = resolved;
  // First, because its error says what is wrong with a directory that holds no store.
  const first = await readManifest({ host, dir });
  const followed = new FollowedStore(resolved, first, () => openJournalBeside(resolved));
  try {
    await followed.look();
  } catch (error) {
    await followed.close();
    throw error;
  }
  return new OpenEngineReader(resolved, followed);
}
