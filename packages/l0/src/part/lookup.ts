import type { BlockPlace } from "./block.ts";

/**
 * A search that asks for the blocks that it needs and is given their plain bytes. So the same steps run at once when all of them are
 * cached, and wait for the disk when not.
 */
export type Lookup<T> = Generator<BlockPlace, T, Buffer>;

/** Where blocks come from. */
export interface BlockSource {
  /** `undefined` when it isn't in memory. */
  peek(place: BlockPlace): Buffer | undefined;
  load(place: BlockPlace): Promise<Buffer>;
}

export async function run<T>(lookup: Lookup<T>, source: BlockSource): Promise<T> {
  return runSoon(lookup, source);
}

/** At once when all blocks that it needs are in memory. */
export function runSoon<T>(lookup: Lookup<T>, source: BlockSource): T | Promise<T> {
  const step = runWhile(lookup, lookup.next(), source);
  return step.done === true ? step.value : runOn(lookup, step, source);
}

async function runOn<T>(lookup: Lookup<T>, from: IteratorResult<BlockPlace, T>, source: BlockSource): Promise<T> {
  let step = from;
  while (step.done !== true) step = runWhile(lookup, lookup.next(await source.load(step.value)), source);
  return step.value;
}

/** Goes on until the end, or a block that isn't in memory. */
function runWhile<T>(
  lookup: Lookup<T>,
  from: IteratorResult<BlockPlace, T>,
  source: BlockSource,
): IteratorResult<BlockPlace, T> {
  let step = from;
  while (step.done !== true) {
    const block = source.peek(step.value);
    if (block === undefined) return step;
    step = lookup.next(block);
  }
  return step;
}

/** `undefined` when a block that it needs isn't in memory. */
export function runCached<T>(lookup: Lookup<T>, source: BlockSource): T | undefined {
  const step = runWhile(lookup, lookup.next(), source);
  return step.done === true ? step.value : undefined;
}
