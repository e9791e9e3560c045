import { EhdbError, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import type { Damage, VerifyJournalOptions, VerifyJournalReport, VerifyOptions, VerifyReport } from "./api.ts";
import { directoryExists } from "./directory.ts";
import { machineError } from "./machine-error.ts";
import { resolveReaderOptions } from "./options.ts";
import type { ResolvedReaderOptions } from "./options.ts";
import { findReachable } from "./reachable.ts";
import { JournalFollower } from "./reader.ts";
import { ReadFiles } from "./read-files.ts";
import { walkSegment } from "./walk-segment.ts";

/** Looks until it sees the same damage twice. */
const mostLooks = 8;

/**
 * Reads every byte of a journal that needn't be open, nor be one that can be opened, and says what is wrong. Writes nothing and takes no
 * lock; what a writer changes meanwhile is looked at again. Errors: INVALID_OPTION, NOT_FOUND, ABORTED, KEY_MISSING, WRONG_KEY,
 * UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function verifyJournal(options: VerifyJournalOptions): Promise<VerifyJournalReport> {
  const { signal, onProgress, ...rest } = options;
  const resolved = resolveReaderOptions(rest);
  const { host, dir } = resolved;
  const verifying: VerifyOptions = { ...(signal && { signal }), ...(onProgress && { onProgress }) };
  const follower = new JournalFollower(resolved);
  try {
    if (!(await directoryExists(host, dir, "dir")))
      throw new EhdbError("NOT_FOUND", `there is no journal at ${dir}: no such directory. Check the path`, { dir });
    await follower.refresh();
    return await verifySettled(follower, verifying);
  } catch (error) {
    if (!isEhdbError(error, "CORRUPT")) throw machineError(error, "verifying the journal", dir);
    return await verifyBroken(resolved, verifying, error);
  } finally {
    await follower.close();
  }
}

async function verifySettled(follower: JournalFollower, options: VerifyOptions): Promise<VerifyJournalReport> {
  let report: VerifyReport | undefined;
  for (let looks = 0; looks < mostLooks; looks++) {
    const before = report;
    report = await follower.verify(options);
    if (report.ok || (before !== undefined && isSame(before.damage, report.damage))) break;
    await follower.relist();
  }
  return { ...(report as VerifyReport), first: follower.first, last: follower.whole };
}

const isSame = (one: readonly Damage[], other: readonly Damage[]): boolean => placesOf(one) === placesOf(other);
const placesOf = (damage: readonly Damage[]): string =>
  damage.map(({ file, offset }) => `${file}:${offset}`).join("\n");

/** Of a log whose chain can't be followed: why not, and what can be found of it all the same. */
async function verifyBroken(
  { host, dir, encryption, indexStride }: ResolvedReaderOptions,
  options: VerifyOptions,
  broken: EhdbError,
): Promise<VerifyJournalReport> {
  const reachable = await findReachable({ host, dir, encryption, indexStride });
  const damage: Damage[] = [damageOf(broken), ...reachable.damage];
  const files = new ReadFiles(host);
  const totalBytes = reachable.parts.reduce((sum, { segment }) => sum + segment.end, 0);
  let [batches, records, bytes, doneBytes] = [0, 0, 0, 0];
  try {
    for (const { segment, start } of reachable.parts) {
      const visitor = {
        onBatch: async (found: readonly unknown[], batch: { readonly bytes: Uint8Array; readonly offset: number }) => {
          throwIfAborted(options.signal, "verifying the journal");
          batches++;
          records += found.length;
          bytes += batch.bytes.length;
          await options.onProgress?.(doneBytes + batch.offset, totalBytes);
        },
        onDamage: (found: Damage) => damage.push(found),
      };
      await files.use(segment, (file) => walkSegment(host, file, segment, visitor, start));
      doneBytes += segment.end;
    }
  } finally {
    await files.close();
  }
  const places = new Set<string>();
  const distinct = damage.filter(({ file, offset }) => {
    const place = `${file}:${offset}`;
    return !places.has(place) && places.add(place);
  });
  const { parts, lowWater } = reachable;
  return {
    ok: false,
    segments: parts.length,
    batches,
    records,
    bytes,
    damage: distinct,
    gaps: [],
    first: Math.max(lowWater.sequence, parts[0]?.segment.first ?? 1),
    last: Math.max(0, ...parts.map(({ segment }) => segment.last)),
  };
}

function damageOf({ data, message }: EhdbError): Damage {
  const { file = "", offset = 0, first = 1, last = 0, reason = message } = data;
  return {
    file: String(file),
    offset: Number(offset),
    first: Number(first),
    last: Number(last),
    reason: String(reason),
  };
}
