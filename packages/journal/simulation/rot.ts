import { openJournal, salvage } from "../src/index.ts";
import type { Damage, Journal, JournalRecord } from "../src/index.ts";
import { codeOf, describe, DIRECTORY } from "./context.ts";
import type { Run } from "./context.ts";
import { alone, optionsOf } from "./opening.ts";

const SALVAGED = "/salvaged";

/** A batch of the log, as a reader sees it: lost together, when its bytes rot. */
interface Group {
  readonly first: number;
  readonly last: number;
}

/**
 * Flips a bit in what the log itself has stated durable. The right answers: everything is read as it was; or CORRUPT, naming
 * the file, the place and the sequences. Never fewer records in silence; and salvage brings all that isn't in that batch.
 */
export async function rot(run: Run, journal: Journal): Promise<void> {
  const groups: Group[] = [];
  const quiet = await alone(run, "a quiet moment", async () => {
    for (let i = 0; i < 12; i++) {
      const id = run.ledger.nextId();
      const write = run.ledger.ask(id, run.payloads.group(id), journal.epoch);
      run.ledger.mint(write, (await journal.appendAllDurable(write.records)).first);
    }
    // The last batch isn't stated by any other: a crash may leave it so.
    await journal.flush();
    run.ledger.acknowledge(journal.last);
    groups.push(...(await readGroups(run, journal)));
    if (run.random.chance(0.5)) await journal.close();
    return "quiet" as const;
  });
  if (quiet !== "quiet") return;
  run.host = run.host.crash();
  const stated = groups.slice(0, -1);
  if (stated.length === 0) return;
  const chosen = run.random.pick(stated as [Group, ...Group[]]);
  const place = find(run, chosen);
  if (place === undefined) return;
  run.host.flipBit(place.path, place.offset, run.random.between(0, 7));
  run.counts.rots++;
  await alone(run, "a look at what has rotted", async () => {
    const damage = await look(run);
    if (damage === undefined) {
      run.ledger.fail(
        `a bit flipped at byte ${place.offset} of ${place.path}, in record ${chosen.first} to ${chosen.last}, and nobody noticed`,
      );
      return;
    }
    run.counts.rotsFound++;
    checkDamage(run, damage, place, chosen);
    await rescue(run, chosen);
  });
}

/** All there is, batch by batch. Retention may overtake who begins at the first record: then again from what is the first now. */
async function readGroups(run: Run, journal: Journal): Promise<Group[]> {
  for (;;) {
    const groups: Group[] = [];
    try {
      for await (const records of journal.scan().batches()) {
        for (const record of records) run.ledger.see(record, true);
        groups.push({
          first: (records[0] as JournalRecord).sequence,
          last: (records.at(-1) as JournalRecord).sequence,
        });
      }
      return groups;
    } catch (error) {
      if (codeOf(error) !== "COMPACTED" || run.ledger.lowMost === 1) throw error;
    }
  }
}

/** Where the first record of a batch stands on disk, when it can be recognized: somewhere in its bytes. */
function find(run: Run, { first }: Group): { path: string; offset: number } | undefined {
  const data = run.ledger.bytesOf(first);
  if (data === undefined || data.length < 16) return undefined;
  for (let id = run.ledger.epoch * 8 + 64; id > 0; id--) {
    const path = `${DIRECTORY}/${String(id).padStart(16, "0")}.segment`;
    const content = contentOf(run, path);
    // A leftover copy stands behind the original.
    const at = content?.indexOf(data) ?? -1;
    if (at >= 0) return { path, offset: at + run.random.between(0, data.length - 1) };
  }
  return undefined;
}

function contentOf(run: Run, path: string): Buffer | undefined {
  try {
    const bytes = run.host.content(path);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch {
    return undefined;
  }
}

/** Opens and reads all; resolves with what the journal says is damaged. */
async function look(run: Run): Promise<Damage | undefined> {
  let journal: Journal | undefined;
  try {
    journal = await openJournal(optionsOf(run));
    for await (const batch of journal.scan().batches()) for (const record of batch) run.ledger.see(record, false);
    if (journal.last < run.ledger.firm)
      run.ledger.fail(
        `after a bit flipped, the log ends at ${journal.last} in silence; ${run.ledger.firm} was acknowledged`,
      );
    return undefined;
  } catch (error) {
    if (codeOf(error) !== "CORRUPT") throw error;
    const { data } = error as { data?: unknown } as { data: Damage };
    if (journal !== undefined) {
      const report = await journal.verify();
      if (report.ok) run.ledger.fail(`a scan met damage, and verify says all is well: ${describe(error)}`);
    }
    return data;
  } finally {
    await journal?.close();
  }
}

function checkDamage(run: Run, damage: Damage, place: { path: string; offset: number }, { first, last }: Group): void {
  const { file, offset } = damage;
  const names = file === place.path && offset <= place.offset && damage.first <= first && damage.last >= last;
  if (!names)
    run.ledger.fail(
      `a bit flipped at byte ${place.offset} of ${place.path}, in ${first} to ${last}, and the error says ${JSON.stringify(damage)}`,
    );
}

async function rescue(run: Run, { first, last }: Group): Promise<void> {
  const { ledger } = run;
  const { dir: _, ...options } = optionsOf(run);
  const { host, encryption } = options;
  const report = await salvage({
    dir: DIRECTORY,
    to: SALVAGED,
    ...(host === undefined ? {} : { host }),
    ...(encryption === undefined ? {} : { encryption }),
  });
  run.counts.salvages++;
  for (const lost of report.lost) {
    if (lost.first < first || lost.last > last)
      ledger.fail(`salvage lost ${lost.first} to ${lost.last}, and only ${first} to ${last} rotted`);
  }
  const journal = await openJournal({ dir: SALVAGED, ...options });
  let next = journal.first;
  for await (const batch of journal.scan().batches()) {
    for (const record of batch) {
      if (record.sequence !== next && !(next >= first && record.sequence === last + 1))
        ledger.fail(`the salvaged log goes from ${next - 1} to ${record.sequence}`);
      next = record.sequence + 1;
      ledger.see({ ...record, epoch: ledger.epochOf(record.sequence) ?? record.epoch }, false);
    }
  }
  if (next !== ledger.last + 1)
    ledger.fail(`the salvaged log ends at ${next - 1}, and the damaged one had ${ledger.last}`);
  const appended = await journal.appendDurable(new Uint8Array(8));
  if (appended <= ledger.last) ledger.fail(`the salvaged log gave sequence ${appended} again`);
  await journal.close();
}
