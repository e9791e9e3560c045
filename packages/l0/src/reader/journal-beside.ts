import { join } from "node:path";
import { EhdbError, isEhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { openJournalReader } from "@ehdb/journal";
import type { DecryptionKeys, ReadOnlyJournal } from "@ehdb/journal";
import type { ManifestState } from "../manifest/state.ts";

export interface StoreBeside {
  readonly host: Host;
  readonly dir: string;
  readonly encryption: DecryptionKeys | undefined;
  readonly pollMillis?: number;
}

/** The journal of a store, beside its writer. What it has dropped, a manifest that is read from now on has named before. Errors as `openEngineReader`. */
export async function openJournalBeside({ host, dir, encryption, pollMillis }: StoreBeside): Promise<ReadOnlyJournal> {
  return await openJournalReader({
    dir: join(dir, "journal"),
    host,
    ...(pollMillis === undefined ? {} : { pollMillis }),
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

/** Of a manifest that was read after the journal. */
export function assertMeets({ first }: ReadOnlyJournal, { sealedThrough }: ManifestState): void {
  if (first <= sealedThrough + 1) return;
  const message = `the journal begins at ${first}, and the manifest says that only commits up to ${sealedThrough} are in parts: an edit of the manifest is lost. Nothing was changed. Open a copy of the store from before`;
  throw new EhdbError("CORRUPT", message, { first, sealedThrough });
}
