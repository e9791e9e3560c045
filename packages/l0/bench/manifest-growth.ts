import { assertCount, countingHost, growthExponent, shape, withDirectory } from "@ehdb/harness";
import type { Bench, BenchContext, BySize, Result, SizedCost } from "@ehdb/harness";
import { inspectStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { LOG, MAP, open } from "./stage.ts";
import type { Options } from "./stage.ts";

/** Seals, each of a commit to a log and a map: two parts. */
const seals: BySize<readonly number[]> = { tiny: [16, 64, 256], small: [128, 512, 2048], full: [256, 1024, 4096] };
const controlSeals: BySize<readonly number[]> = { tiny: [12, 48, 192], small: [32, 128, 512], full: [32, 128, 512] };
/** More opens than manifests are kept: what is kept is as much as it ever is. */
const opensBefore = 40;

interface Manifests {
  /** Written in all, and the sizes of the files that are kept. */
  readonly written: SizedCost[];
  readonly kept: SizedCost[];
  readonly files: SizedCost[];
}

/** What the list of parts costs as appends go on and each is sealed: bytes and files of manifests. */
export const manifestGrowth: Bench = {
  name: "l0.manifest.growth",
  results: ["l0.manifest.growth", "l0.manifest.growth.control"],
  async run(context: BenchContext): Promise<Result[]> {
    const ours = await measure(context, seals[context.size], {}, false);
    // A snapshot at every edit, none merged and all kept: what a list is that's written anew each time.
    const always = { manifestRetain: 0, background: false, reserveBytes: 0 } as const;
    const control = await measure(context, controlSeals[context.size], always, true);
    const [bytes, files] = [growthExponent(ours.written), growthExponent(ours.files)];
    const bad = growthExponent(control.kept);
    const [last, lastFiles] = [ours.written.at(-1) as SizedCost, ours.files.at(-1) as SizedCost];
    return [
      {
        name: "l0.manifest.growth",
        value: bytes,
        unit: "exponent of bytes written over seals (less is better)",
        n: last.size,
        exponent: bytes,
        note: `defaults, merges too; ${listed(ours.written)} written; kept in ${lastFiles.cost} files, ${listed(ours.kept)}`,
        verdicts: [
          shape(`bytes grow by ${bytes.toFixed(3)} <= 1.05`, bytes <= 1.05),
          shape(`files grow by ${files.toFixed(3)} <= 0.1`, files <= 0.1),
        ],
      },
      {
        name: "l0.manifest.growth.control",
        value: bad,
        unit: "exponent of bytes kept over seals (near 2)",
        n: control.kept.at(-1)?.size ?? 0,
        exponent: bad,
        control: true,
        note: `a snapshot at every edit, all kept, no merges; ${listed(control.kept)} in ${control.files.at(-1)?.cost} files`,
        verdicts: [shape(`bytes grow by ${bad.toFixed(3)} >= 1.5`, bad >= 1.5)],
      },
    ];
  },
};

async function measure(
  { directory }: BenchContext,
  sizes: readonly number[],
  options: Options,
  isReopened: boolean,
): Promise<Manifests> {
  return await withDirectory(directory, async (parent) => {
    const dir = `${parent}/engine`;
    const { host, take } = countingHost(/\/(manifest-|CURRENT)[^/]*$/);
    const reopen = (): Promise<DurableEngine> => open(dir, { ...options, host });
    const found: Manifests = { written: [], kept: [], files: [] };
    let engine = await reopen();
    for (let i = 0; i < (isReopened ? 0 : opensBefore); i++) {
      await engine.close();
      engine = await reopen();
    }
    take();
    let [written, made] = [0, 0];
    for (const size of sizes) {
      for (; made < size; made++) {
        const [key, payload] = [`key-${made % 100}`, Buffer.from(`record ${made}`)];
        await engine.commit((batch) => {
          batch.append(LOG, key, payload);
          batch.put(MAP, key, payload);
        });
        await engine.seal();
        if (!isReopened) continue;
        await engine.close();
        engine = await reopen();
      }
      // On a busy machine merges come later, and would be missing at the smaller sizes.
      if (!isReopened) await engine.runPendingMerges();
      assertCount("sealed commits", engine.heads.sealed, size);
      written += take().writtenBytes;
      const { manifests } = await inspectStore({ dir });
      found.written.push({ size, cost: written });
      found.kept.push({ size, cost: manifests.reduce((sum, file) => sum + file.bytes, 0) });
      found.files.push({ size, cost: manifests.length });
    }
    await engine.close();
    return found;
  });
}

function listed(costs: readonly SizedCost[]): string {
  return costs.map(({ size, cost }) => `${(cost / 1024).toFixed(0)} KiB at ${size}`).join(", ");
}
