import { backupStore, openEngineReader, verifyStore } from "../src/index.ts";
import type { BackupReport, DurableEngine } from "../src/index.ts";
import { readBeside } from "./beside-reads.ts";
import { codeOf, DIRECTORY, mayHappen } from "./context.ts";
import type { Run } from "./context.ts";
import { excused } from "./reader-beside.ts";
import type { Beside, Step } from "./reader-beside.ts";
import { drawKeys } from "./settings.ts";

const nameOf = (number: number): string => `/backup-${number}`;

/** Another process backs the store up: what it gets is the store at one revision, with all that was acknowledged before. */
export async function backUpBeside(run: Run, beside: Beside, engine: DurableEngine, step: Step): Promise<void> {
  const { host, ledger, counts } = run;
  const to = nameOf(++beside.backups);
  const encryption = run.settings.encrypted ? { encryption: drawKeys(beside.random) } : {};
  const { firm } = ledger;
  const forgotten = run.forgotten.copy();
  const isAtWork = (): boolean => engine.state === "open" && !run.full;
  const wasAtWork = isAtWork();
  let report: BackupReport | undefined;
  await excused(run, step, `the backup ${to}`, async () => {
    try {
      report = await backupStore({ dir: DIRECTORY, to, host, ...encryption });
    } catch (error) {
      const code = codeOf(error);
      // It was overtaken each time, or met the same full disk as the writer.
      if (code !== "LOCKED" && (code !== "NO_SPACE" || !mayHappen(run, code))) throw error;
    }
  });
  if (report === undefined) return;
  counts.besideBackups++;
  const { revision } = report;
  beside.taken.set(beside.backups, revision);
  ledger.acknowledge(revision);
  if (engine.state === "open" && revision > engine.heads.durable)
    ledger.fail(`${to} holds ${revision} commits, and only ${engine.heads.durable} are durable`);
  if (wasAtWork && isAtWork() && revision < firm)
    ledger.fail(`${to} ends at ${revision}, and ${firm} were acknowledged before it began`);
  await excused(run, step, `the reads of ${to}`, async () => {
    const reader = await openEngineReader({ dir: to, host, ...encryption });
    if (reader.revision !== revision) ledger.fail(`${to} says ${revision}, and shows ${reader.revision}`);
    const { random } = beside;
    for (let left = random.between(1, 4); left > 0; left--)
      await readBeside(run, { random, forgotten }, reader, async (_, work) => await work());
    await reader.close();
  });
}

/** After all crashes, with nothing wrong any more: each that was taken is there, and what has the name of one is whole. */
export async function lookAtBackups({ host, settings, beside, ledger }: Run): Promise<void> {
  if (beside === undefined) return;
  const encryption = settings.encrypted ? { encryption: drawKeys(beside.random) } : {};
  const names = new Set((await host.files.list("/")).map((name) => `/${name}`));
  for (let number = 1; number <= beside.backups; number++) {
    const dir = nameOf(number);
    const revision = beside.taken.get(number);
    if (!names.has(dir)) {
      if (revision !== undefined) ledger.fail(`${dir} was taken, and isn't there`);
      continue;
    }
    const { damage } = await verifyStore({ dir, host, ...encryption });
    for (const { file, offset, reason } of damage)
      ledger.fail(`of the backup ${file} is damaged at byte ${offset}: ${reason}`);
    const reader = await openEngineReader({ dir, host, ...encryption });
    if (revision !== undefined && reader.revision !== revision)
      ledger.fail(`${dir} had ${revision} commits, and has ${reader.revision}`);
    await reader.close();
  }
}
