import type { CrashPoint, SimulatedHost } from "@ehdb/host";
import type { Counts } from "./context.ts";
import type { Random } from "./random.ts";

/** The counts of crashes at places that a crash at any operation would rarely meet. */
type Place = Extract<keyof Counts, "crashInSeal" | "crashInMerge" | "crashInManifestEdit" | "crashInManifestSwitch">;

const part = /\/parts\/\d+\.part$/;
// A file keeps the name it was opened with: edits go to what was a temporary file.
const edited = /\/manifest-\d+\.[0-9a-f]+\.tmp$/;
const temporary = /\/(?:manifest-\d+|CURRENT)\.[0-9a-f]+\.tmp/;

const points: Readonly<Record<Place, readonly CrashPoint[]>> = {
  crashInSeal: [
    { operation: "job" },
    { operation: "create", path: part },
    { operation: "write", path: part },
    { operation: "dataSync", path: part },
    { operation: "dataSync", path: part },
    { operation: "syncDirectory", path: /\/parts$/ },
  ],
  crashInMerge: [
    { operation: "job", path: /^mergeParts$/ },
    { operation: "read", path: part },
    { operation: "remove", path: part },
  ],
  crashInManifestEdit: [
    { operation: "write", path: edited },
    { operation: "dataSync", path: edited },
  ],
  crashInManifestSwitch: [
    { operation: "create", path: temporary },
    { operation: "write", path: temporary },
    { operation: "dataSync", path: temporary },
    { operation: "rename", path: temporary },
    { operation: "syncDirectory", path: /\/store$/ },
  ],
};

/** Where this incarnation is to end. Counted when it ended there. */
export class CrashPlan {
  #place: Place | undefined;

  /** Somewhere in the work that seals do. */
  inSeal(random: Random, host: SimulatedHost, most: number): void {
    this.#arm(random, host, random.pick(["crashInSeal", "crashInSeal", "crashInManifestEdit"] as const), most);
  }

  /** Somewhere in the work that merges do. */
  inMerge(random: Random, host: SimulatedHost, most: number): void {
    this.#arm(random, host, "crashInMerge", most);
  }

  /** After some operations, whatever they are. */
  anywhere(host: SimulatedHost, operations: number): void {
    this.#place = undefined;
    host.crashAfter(operations);
  }

  inSwitch(random: Random, host: SimulatedHost): void {
    this.#arm(random, host, "crashInManifestSwitch", 2);
  }

  count(counts: Counts): void {
    if (this.#place !== undefined) counts[this.#place]++;
    this.#place = undefined;
  }

  #arm(random: Random, host: SimulatedHost, place: Place, most: number): void {
    this.#place = place;
    const point = random.pick(points[place]);
    host.crashAt({ ...point, nth: random.between(1, most), when: random.pick(["before", "after"] as const) });
  }
}
