import { withDirectory } from "@ehdb/harness";
import type { BenchContext } from "@ehdb/harness";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";

export const LOG = "events";
export const MAP = "state";
export type Options = Omit<EngineOptions, "dir" | "datasets">;

export function open(dir: string, options: Options): Promise<DurableEngine> {
  return openEngine({
    ...options,
    dir,
    datasets: [
      { name: LOG, order: "by-sort" },
      { name: MAP, order: "by-key" },
    ],
  });
}

/** Calls with a new engine of a log and a map; closes and removes it afterwards. */
export async function withEngine<T>(
  { directory }: BenchContext,
  options: Options,
  use: (engine: DurableEngine, dir: string) => Promise<T>,
): Promise<T> {
  return await withDirectory(directory, async (parent) => {
    const dir = `${parent}/engine`;
    const engine = await open(dir, options);
    try {
      return await use(engine, dir);
    } finally {
      await engine.close();
    }
  });
}

/** Appends `count` records, a commit each, many at once. */
export async function fill(
  engine: DurableEngine,
  count: number,
  record: (index: number) => readonly [key: string, payload: Uint8Array],
): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const [key, payload] = record(next++);
      await engine.commit((batch) => batch.append(LOG, key, payload));
    }
  };
  await Promise.all(Array.from({ length: 512 }, caller));
}
