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
  let step = lookup.next();
  while (step.done !== true) {
    const block = source.peek(step.value) ?? (await source.load(step.value));
    step = lookup.next(block);
  }
  return step.value;
}

/** `undefined` when a block that it needs isn't in memory. */
export function runCached<T>(lookup: Lookup<T>, source: BlockSource): T | undefined {
  let step = lookup.next();
  while (step.done !== true) {
    const block = source.peek(step.value);
    if (block === undefined) return undefined;
    step = lookup.next(block);
  }
  return step.value;
}
