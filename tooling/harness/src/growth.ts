import { EhdbError } from "@ehdb/contracts";

/** A cost measured at one size of the store. Units are the caller's; only their growth counts. */
export interface SizedCost {
  readonly size: number;
  readonly cost: number;
}

/** Neighbouring sizes that are nearer than this tell noise, not growth. */
const leastFactor = 4;

/** The exponent e of cost ~ size^e: least squares over the logarithms. Wants three sizes or more, each at least four times the one before. */
export function growthExponent(points: readonly SizedCost[]): number {
  if (points.length < 3)
    throw new EhdbError("INVALID_ARGUMENT", `a growth exponent wants at least 3 sizes, not ${points.length}`);
  const sorted = [...points].sort((a, b) => a.size - b.size);
  for (const [index, { size, cost }] of sorted.entries()) {
    if (!(size > 0 && cost > 0 && Number.isFinite(size) && Number.isFinite(cost))) {
      throw new EhdbError("INVALID_ARGUMENT", `sizes and costs are above 0: ${cost} at size ${size}`);
    }
    const before = sorted[index - 1]?.size;
    if (before !== undefined && size < before * leastFactor) {
      throw new EhdbError(
        "INVALID_ARGUMENT",
        `sizes lie a factor of ${leastFactor} apart or more: ${before} and ${size} don't`,
      );
    }
  }
  const x = sorted.map(({ size }) => Math.log(size));
  const y = sorted.map(({ cost }) => Math.log(cost));
  const [meanX, meanY] = [mean(x), mean(y)];
  const covariance = x.reduce((sum, each, i) => sum + (each - meanX) * ((y[i] as number) - meanY), 0);
  const spread = x.reduce((sum, each) => sum + (each - meanX) ** 2, 0);
  return covariance / spread;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
