import { EhdbError } from "@ehdb/contracts";
import type { BenchSize, Result } from "./result.ts";

export interface BenchContext {
  readonly size: BenchSize;
  /** How often each contender runs; the figure is the median. */
  readonly rounds: number;
  /** An empty directory on the disk that is measured; removed afterwards. */
  readonly directory: string;
  /** Whether a row of this name is wanted. A bench that measures several may leave out the others. */
  wants(name: string): boolean;
}

/** A set of figures that only make sense beside each other. It runs in a process of its own. */
export interface Bench {
  readonly name: string;
  /** The rows it must give: a run in which one is missing fails. */
  readonly results: readonly string[];
  run(context: BenchContext): Promise<Result[]>;
}

/** One of those that are measured beside each other. */
export interface Contender<Figure> {
  readonly name: string;
  /** One run from start to end on what is its own; set-up and clean-up aren't in the figure that it returns. */
  round(index: number): Promise<Figure>;
}

/**
 * Runs all contenders in turn, the next time in reversed order, the garbage of the one before collected: what warms up or
 * slows down in the course of a run hits all of them.
 */
export async function alternate<Figure>(
  contenders: readonly Contender<Figure>[],
  rounds: number,
): Promise<Map<string, Figure[]>> {
  const figures = new Map<string, Figure[]>(contenders.map(({ name }) => [name, []]));
  if (figures.size !== contenders.length) throw new EhdbError("INVALID_ARGUMENT", "two contenders have the same name");
  for (let round = 0; round < rounds; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      globalThis.gc?.();
      figures.get(contender.name)?.push(await contender.round(round));
    }
  }
  return figures;
}
