import { payloadSeed, SeededRandom } from "@ehdb/harness";
import type { BySize } from "@ehdb/harness";
import type { LogRecord } from "@ehdb/contracts";
import type { DurableEngine } from "@ehdb/l0";
import { LOG, MAP } from "../stage.ts";
import type { Options } from "../stage.ts";

export const commitCounts: BySize<number> = { tiny: 4000, small: 40_000, full: 200_000 };
export const callers = 64;
const keys = 300;

/** Generations are small, so that what is looked at is in memory, in parts, and in parts that were merged. */
export const manyParts: BySize<Options> = {
  tiny: { sealMaxCommits: 64 },
  small: { sealMaxCommits: 512 },
  full: { sealMaxCommits: 1024 },
};

/** Small generations wait for each other: without a seal between them a short history would be one part. */
const slices = 8;

/** Many callers at once; each payload says whose it is, and the how many-th of theirs. The last of eight slices isn't sealed by a call. */
export async function writeHistory(engine: DurableEngine, commits: number, seed: number = payloadSeed): Promise<void> {
  const random = new SeededRandom(seed);
  const numbers = Array.from({ length: callers }, () => 0);
  const next = (caller: number): number => (numbers[caller] = (numbers[caller] ?? 0) + 1);
  let left = commits;
  /** Commits until so many are left. */
  const call = async (caller: number, until: number): Promise<void> => {
    while (left > until) {
      left--;
      await engine.commit((batch) => {
        for (let appends = 1 + random.integer(3); appends > 0; appends--)
          batch.append(LOG, keyOf(random.integer(keys)), payloadOf(caller, next(caller)));
        const key = keyOf(random.integer(keys));
        if (random.integer(10) === 0) batch.delete(MAP, key);
        else batch.put(MAP, key, payloadOf(caller, next(caller)));
      });
    }
  };
  const slice = Math.ceil(commits / slices);
  for (let until = commits - slice; ; until = Math.max(0, until - slice)) {
    await Promise.all(numbers.map((_, caller) => call(caller, until)));
    if (until === 0) return;
    await engine.seal();
  }
}

/** Some of it sealed and merged, some of it not; an invariant that never saw a merge says little. */
export async function settleHistory(engine: DurableEngine): Promise<void> {
  await engine.runPendingMerges();
  const { seals, merges, unsealed_bytes } = engine.stats();
  if (seals * merges * unsealed_bytes === 0)
    throw new Error(`${seals} seals and ${merges} merges ran, and ${unsealed_bytes} bytes aren't sealed`);
}

export async function recordsOf(engine: Pick<DurableEngine, "log">): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for await (const batch of engine.log(LOG).scan()) for (const record of batch) all.push(record);
  return all;
}

export function keyOf(key: number): string {
  return `key-${key}`;
}

export function* allKeys(): Iterable<string> {
  for (let key = 0; key < keys; key++) yield keyOf(key);
}

export function writerOf({ payload }: LogRecord): { readonly caller: number; readonly number: number } {
  const { buffer, byteOffset, byteLength } = payload;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return { caller: bytes.readUInt32LE(0), number: bytes.readUInt32LE(4) };
}

function payloadOf(caller: number, number: number): Uint8Array {
  const payload = Buffer.alloc(200, caller ^ number);
  payload.writeUInt32LE(caller, 0);
  payload.writeUInt32LE(number, 4);
  return payload;
}
