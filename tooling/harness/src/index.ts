export { alternate } from "./bench.ts";
export type { Bench, BenchContext, Contender } from "./bench.ts";
export { inFlightOf, payloadSeed, roundAndRound, withDirectory } from "./bench-stage.ts";
export type { BySize } from "./bench-stage.ts";
export { NotInjected } from "./fault.ts";
export type { Fault, FaultContext } from "./fault.ts";
export { countingHost } from "./counting-host.ts";
export type { CountingHost } from "./counting-host.ts";
export { growthExponent } from "./growth.ts";
export type { SizedCost } from "./growth.ts";
export { runKills } from "./kill-driver.ts";
export { KillLedger } from "./kill-ledger.ts";
export {
  acknowledged,
  broken,
  dropped,
  dropping,
  killLine,
  opened,
  opening,
  parseKillLine,
  settled,
  settling,
} from "./kill-protocol.ts";
export type { KillLine } from "./kill-protocol.ts";
export type { KillLoad, KillOptions, KillReport, KillTarget, Survivor } from "./kill-target.ts";
export { machineFacts } from "./machine.ts";
export type { MachineFacts } from "./machine.ts";
export { seededEvents, seededPayloads, seededRecords } from "./payloads.ts";
export type { EventEnvelope } from "./payloads.ts";
export { goal, parseReport, roundsAt, shape } from "./result.ts";
export type { BenchReport, BenchSize, MeasuredResult, ProcessCost, Result, Verdict } from "./result.ts";
export { SeededRandom } from "./seeded-random.ts";
export { addCounts, enoughSeeds, unmetCounts } from "./simulation.ts";
export type { Counts, Mutant, Simulation, SimulationResult } from "./simulation.ts";
export type { Soak, SoakContext, SoakProblem, SoakReport } from "./soak.ts";
export { Stage } from "./stage.ts";
export type { StageEnd } from "./stage.ts";
export { distribution, median, medianRatio, percentile, variation } from "./statistics.ts";
export type { Distribution } from "./statistics.ts";
export { rise } from "./trend.ts";
export type { TimedValue } from "./trend.ts";
export { assertCount, assertWork, FullDigest, proofOf, SampledDigest } from "./work-proof.ts";
export type { WorkProof } from "./work-proof.ts";
