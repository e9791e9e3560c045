// Runs seeds of one tier's simulation and tells the parent how each went.
import type { SimulationResult } from "@ehdb/harness";
import type { SeedMessage, SeedOrder } from "./seed-run.ts";
import { loadSimulation } from "./tiers.ts";

// Without a parent nobody wants the outcome.
process.once("disconnect", () => process.exit());
const { root, tier, seeds } = JSON.parse(process.argv[2] ?? "") as SeedOrder;
const simulation = await loadSimulation(root, tier);
if (simulation.tier !== tier) throw new Error(`packages/${tier} simulates tier ${simulation.tier}`);
for (const seed of seeds) {
  await say({ seed });
  await say({ seed, result: await outcome(seed) });
}
process.disconnect();

async function outcome(seed: number): Promise<SimulationResult> {
  try {
    return await simulation.run(seed);
  } catch (error) {
    return {
      violations: [`the simulation threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`],
      counts: {},
    };
  }
}

/** Resolves when the message is out, so that nothing is lost at the end. */
function say(message: SeedMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
  });
}
