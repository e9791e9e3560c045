import type { CrashPoint, SimulatedHost } from "@ehdb/host";
import type { Counts } from "./context.ts";
import type { Random } from "./random.ts";

/** The counts of crashes at places that a crash at any operation would rarely meet. */
type Place = Extract<keyof Counts, "crashInSeal" | "crashInManifest">;

const part = /\/parts\/\d+\.part$/;
// A file keeps the name it was opened with: edits go to what was a temporary file.
const manifest = /\/(?:manifest-\d+|CURRENT)\.[0-9a-f]+\.tmp/;

const points: Readonly<Record<Place, readonly CrashPoint[]>> = {
  crashInSeal: [
    { operation: "job" },
    { operation: "create", path: part },
    { operation: "write", path: part },
    { operation: "dataSync", path: part },
    { operation: "syncDirectory", path: /\/parts$/ },
  ],
  crashInManifest: [
    { operation: "write", path: manifest },
    { operation: "dataSync", path: manifest },
    { operation: "rename", path: manifest },
  ],
};

/** Where this incarnation is to end. Counted when it ended there. */
export class CrashPlan {
  #place: Place | undefined;

  /** After some operations, whatever they are. */
  anywhere(host: SimulatedHost, operations: number): void {
    this.#place = undefined;
    host.crashAfter(operations);
  }

  /** Somewhere in the work that seals do. */
  inSeal(random: Random, host: SimulatedHost, most: number): void {
    const place = random.pick(["crashInSeal", "crashInSeal", "crashInManifest"] as const);
    this.#place = place;
    const point = random.pick(points[place]);
    host.crashAt({ ...point, nth: random.between(1, most), when: random.pick(["before", "after"] as const) });
  }

  count(counts: Counts): void {
    if (this.#place !== undefined) counts[this.#place]++;
    this.#place = undefined;
  }
}
