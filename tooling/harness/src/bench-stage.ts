import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BenchSize } from "./result.ts";

/** The event payloads of all benches come from this seed. */
export const payloadSeed = 20_240_601;

/** What is measured at each size. */
export type BySize<T> = Readonly<Record<BenchSize, T>>;

/** Calls with a new directory, and removes it afterwards. */
export async function withDirectory<T>(parent: string, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(parent, "run-"));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** `count` items taken from `items` round and round, from the `first`-th on. */
export function roundAndRound<T>(items: readonly T[], first: number, count: number): T[] {
  return Array.from({ length: count }, (_, index) => items[(first + index) % items.length] as T);
}

/** Runs `work(0)` to `work(count - 1)`, each begun in turn, `inFlight` at a time; milliseconds of each. */
export async function inFlightOf(
  inFlight: number,
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<Float64Array> {
  const millis = new Float64Array(count);
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const start = performance.now();
      await work(index);
      millis[index] = performance.now() - start;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return millis;
}
