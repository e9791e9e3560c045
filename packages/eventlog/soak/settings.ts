import { MIB } from "@ehdb/contracts";

export interface SoakSettings {
  readonly writers: number;
  readonly readers: number;
  /** Of each writer, which alone writes to them. */
  readonly streamsOfWriter: number;
  readonly sealMaxBytes: number;
  /** What is kept of the events: parts of the log that hold more go, the oldest first. */
  readonly keptBytes: number;
  readonly retainMillis: number;
  /** One in so many calls of a writer truncates or deletes a stream. */
  readonly eraseOneIn: number;
  /** Positions that the ledger has in view: more than are ever kept. */
  readonly ledgerPositions: number;
  /** A run goes on until so many events are stored, however long that takes. */
  readonly leastEvents: number;
}

export const fullLoad: SoakSettings = {
  writers: 256,
  readers: 4,
  streamsOfWriter: 64,
  sealMaxBytes: 8 * MIB,
  keptBytes: 256 * MIB,
  retainMillis: 1000,
  eraseOneIn: 2000,
  ledgerPositions: 2 ** 21,
  leastEvents: 1,
};

/** What a run is held to. */
export const bounds = {
  /** Files of the store but the reserve: so many times what reads can give … */
  diskTimesLive: 2,
  /** … and so many generations. */
  diskGenerations: 3,
  /** The reserve, which is as large whatever is live: so many generations, and so many bytes. */
  reserveGenerations: 2,
  reserveBytes: MIB,
  /** A timer is late by so much more than in an idle loop, p99. */
  loopMillis: 5,
  /** Memory rises over the second half of a run by no more than this share of what it is, or so many bytes, whichever is more. */
  memoryShare: 0.05,
  memoryBytes: 8 * MIB,
} as const;

/** Defects that can be planted. */
export const controls = {
  /** Nothing is merged. */
  merges: "merges",
  /** What readers get is kept for ever. */
  leak: "leak",
  /** One in some hundred events has another content than the ledger says. */
  content: "content",
} as const;
