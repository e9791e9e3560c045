/** Limits shared by every package. Bytes unless the name says otherwise. */
export const KIB = 1024;
export const MIB: number = 1024 * KIB;

/** The largest record, and the largest atomic write. */
export const MAX_WRITE_BYTES: number = 16 * MIB;
/** The longest name or key, in bytes of UTF-8. */
export const MAX_NAME_BYTES: number = 1024;
/** The largest sequence, version or revision: 2^53 - 1. */
export const MAX_SEQUENCE: number = Number.MAX_SAFE_INTEGER;
/** Appended bytes that may wait in memory, by default. */
export const DEFAULT_IN_FLIGHT_BYTES: number = 32 * MIB;
