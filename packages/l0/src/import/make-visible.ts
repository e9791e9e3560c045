import { EhdbError } from "@ehdb/contracts";
import type { Dataset } from "../dataset.ts";
import type { Ending } from "./ending.ts";
import type { ImportedParts } from "./imported-parts.ts";
import type { ImportContext } from "./imports.ts";

const retryMillis = 250;

/** The end of an import: one edit of the manifest, and in the same step all who read from then on see what came. */
export async function makeVisible(
  context: ImportContext,
  dataset: Dataset,
  made: ImportedParts,
  revision: number,
  ending: Ending,
): Promise<void> {
  const { sealed, store, pins, time, merger } = context;
  const { parts, last, lastTime } = made;
  const lastRevision = Math.max(revision, sealed.dataset(dataset.id)?.lastRevision ?? 0);
  try {
    await sealed.record({
      add: parts.map(({ meta }) => meta),
      datasets: [{ ...dataset.identity, nextSort: last + 1, lastRevision }],
    });
  } catch (error) {
    await undo(context, dataset, ending);
    for (const part of parts) await part.close();
    throw error;
  }
  store.imported(dataset, parts, last + 1);
  time.raise(lastTime);
  pins.swapped();
  merger.schedule();
}

/**
 * A crash may show an edit that failed, until another one is durable: before that nobody may be told that it isn't there, nor get a
 * position that it has given.
 */
async function undo({ sealed, options }: ImportContext, { identity }: Dataset, ending: Ending): Promise<void> {
  for (;;) {
    try {
      await sealed.record({ datasets: [identity] });
      return;
    } catch (error) {
      if (ending.isReached) throw outcomeUnknown(identity.name, error);
      await ending.orResult(pause(options)).catch(() => undefined);
    }
  }
}

function pause({ host }: ImportContext["options"]): Promise<void> {
  return new Promise((resolve) => host.clock.timer(retryMillis, resolve, true));
}

function outcomeUnknown(dataset: string, cause: unknown): EhdbError {
  const message = `the disk failed as what was imported into ${dataset} was to become visible: the next open shows all of it or nothing. Look, and import again if it's empty`;
  return new EhdbError("OUTCOME_UNKNOWN", message, { dataset }, cause);
}
