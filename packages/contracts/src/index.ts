export { abortedError, EhdbError, errorKinds, isEhdbError, throwIfAborted } from "./errors.ts";
export type { ErrorCode, ErrorData, ErrorKind } from "./errors.ts";
export { DEFAULT_IN_FLIGHT_BYTES, KIB, MAX_NAME_BYTES, MAX_SEQUENCE, MAX_WRITE_BYTES, MIB } from "./limits.ts";
export { nearestName } from "./nearest-name.ts";
export { runConformance } from "./conformance.ts";
export type { ConformanceOutcome, ConformanceRule } from "./conformance.ts";
