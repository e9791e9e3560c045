import { codeOf } from "./context.ts";
import type { Work } from "./context.ts";
import { fill } from "./opening.ts";
import { sealReserveBytes } from "./settings.ts";
import { excuse } from "./writers.ts";

/** At most so much more than in memory do parts take, which hold little each; and a few edits of the manifest. */
const overhead = 3;
const smallBytes = 128 * 1024;

/** With nothing left on the disk but the reserve, what fits into that is sealed, whoever else wants room. */
export async function sealOnFullDisk(work: Work): Promise<void> {
  const { run, engine, stage } = work;
  run.host.faults.noSpaceAfterBytes = Infinity;
  await stage.pause(1000);
  const { reserve_bytes, reserve_used: usedBefore, seals: sealsBefore } = engine.stats();
  if (engine.state !== "open" || reserve_bytes < sealReserveBytes || engine.stats().unsealed_bytes === 0) return;
  await stage.step("sealing with nothing left but the reserve", async () => {
    await fill(run, 0);
    try {
      await engine.seal();
    } catch (error) {
      if (codeOf(error) === "NO_SPACE" && mustFit(work, usedBefore))
        run.ledger.fail("a seal said NO_SPACE, and the reserve is larger than all that isn't sealed");
      excuse(work, error);
    }
    const { reserve_used, seals } = engine.stats();
    if (reserve_used > usedBefore && seals > sealsBefore) run.counts.sealsOnReserve++;
  });
}

/** Nothing else fails, nothing merges beside it, and all that there is to seal is small. */
function mustFit({ run, engine }: Work, usedBefore: number): boolean {
  const { trouble, options } = run.settings;
  const { unsealed_bytes, reserve_used } = engine.stats();
  const isAlone = trouble === "no space" && options.background === false && reserve_used <= usedBefore + 1;
  return isAlone && overhead * unsealed_bytes + smallBytes < sealReserveBytes;
}
