import { betterSqlite3 } from "./better-sqlite3.ts";
import { classicLevel } from "./classic-level.ts";
import { lmdb } from "./lmdb.ts";
import type { PeerKind } from "./peer.ts";

export { betterSqlite3, classicLevel, lmdb };
export type { Peer, PeerKind } from "./peer.ts";
export { peerAppends, peerBatches, peerRanges } from "./measure.ts";
export type { PeerWork } from "./measure.ts";

export const peers: readonly PeerKind[] = [betterSqlite3, lmdb, classicLevel];
