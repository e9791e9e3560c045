export type { DurableEngine, EngineHeads, EngineOptions, EngineRecovery, EngineState, EngineStats } from "./api.ts";
export { openEngine } from "./open-engine.ts";
export { referenceEngine } from "./reference.ts";
