import { batchBytes, DATA_START, decodeBatchHeader, decodeSegmentHeader, saltSeed } from "../src/format.ts";
import type { Journal } from "../src/index.ts";
import { DIRECTORY } from "./context.ts";
import type { Run, Work } from "./context.ts";
import { append, flush } from "./writers.ts";

/** Readers are shown what isn't durable, and then its sync fails. */
export async function failAfterShowing(work: Work): Promise<void> {
  const { run, journal, stage } = work;
  const { trouble } = run.settings;
  if (journal.state !== "open" || (trouble !== "failed syncs" && trouble !== "all")) return;
  work.showsDurable = false;
  journal.setDurability("async");
  for (let burst = run.random.between(1, 8); burst > 0; burst--) append(work);
  await stage.pause(10);
  run.host.failNext("dataSync");
  await flush(work);
}

/**
 * What a failed sync has given up the system may read anew from the disk, where it never arrived: spoils a batch that was written
 * and isn't durable. A reopen then takes back what readers were shown.
 */
export async function losePages(run: Run, journal: Journal): Promise<void> {
  const { host, random } = run;
  const { durable, written } = journal.cursors;
  if (written === durable) return;
  const names = (await host.files.list(DIRECTORY).catch(() => [])).filter((name) => name.endsWith(".segment"));
  for (const name of names.toReversed()) {
    const path = `${DIRECTORY}/${name}`;
    const batches = batchesBeyond(Buffer.from(host.content(path)), path, durable);
    if (batches === undefined) continue;
    const [first, ...rest] = batches;
    if (first === undefined) return;
    const { offset, bytes } = random.pick([first, ...rest]);
    host.flipBit(path, offset + random.between(0, bytes - 1), random.between(0, 7));
    run.counts.lostPages++;
    return;
  }
}

/** Where the batches stand whose records come after `durable`; `undefined` for a segment in which there is no batch at all. */
function batchesBeyond(
  content: Buffer,
  path: string,
  durable: number,
): { offset: number; bytes: number }[] | undefined {
  const header = decodeSegmentHeader(content.subarray(0, DATA_START), path);
  if (header === undefined) return undefined;
  const seed = saltSeed(header.salt);
  const found: { offset: number; bytes: number }[] = [];
  let offset = DATA_START;
  for (
    let next = decodeBatchHeader(content, offset, seed);
    next !== undefined;
    next = decodeBatchHeader(content, offset, seed)
  ) {
    const bytes = batchBytes(next);
    if (next.records > 0 && next.firstSequence > durable) found.push({ offset, bytes });
    offset += bytes;
  }
  return offset === DATA_START ? undefined : found;
}
