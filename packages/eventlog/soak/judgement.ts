import { MIB } from "@ehdb/contracts";
import { median, percentile, rise } from "@ehdb/harness";
import { bounds } from "./settings.ts";
import type { SoakSettings } from "./settings.ts";
import { memories } from "./samples.ts";
import type { Sample } from "./samples.ts";

/** What a run came to. */
export interface Outcome {
  readonly samples: readonly Sample[];
  /** p99 in milliseconds: of the idle loop before, and under load. */
  readonly idleMillis: number;
  readonly loopMillis: number;
  readonly seals: number;
  readonly merges: number;
  /** Records that merges left out because a floor had passed them, or because they were erased. */
  readonly dropped: number;
  readonly erased: number;
}

/** Something that must hold, and whether it did. */
export interface Judged {
  readonly what: string;
  readonly holds: boolean;
  /** In words, with figures. */
  readonly text: string;
}

export function judge(outcome: Outcome, settings: SoakSettings): Judged[] {
  const { samples } = outcome;
  return [
    diskOf(samples, settings),
    reserveOf(samples, settings),
    ...memories.map((memory) => memoryOf(memory, samples)),
    loopOf(outcome),
    ...(["seals", "merges", "dropped", "erased"] as const).map((what) => ({
      what,
      holds: outcome[what] > 0,
      text: `${what}: ${outcome[what]} > 0`,
    })),
  ];
}

function diskOf(samples: readonly Sample[], { sealMaxBytes }: SoakSettings): Judged {
  const most = percentile(
    samples.map(({ beyondLive }) => beyondLive),
    1,
  );
  const allowed = bounds.diskGenerations * sealMaxBytes;
  return {
    what: "disk",
    holds: most <= allowed,
    text: `disk without the reserve, beyond ${bounds.diskTimesLive} x live: at most ${mib(most)} <= ${mib(allowed)}, which is ${bounds.diskGenerations} generations`,
  };
}

function reserveOf(samples: readonly Sample[], { sealMaxBytes }: SoakSettings): Judged {
  const most = Math.max(...samples.map(({ reserve }) => reserve));
  const allowed = bounds.reserveGenerations * sealMaxBytes + bounds.reserveBytes;
  return {
    what: "reserve",
    holds: most > 0 && most <= allowed,
    text: `the reserve, for a full disk: more than nothing, at most ${mib(most)} <= ${mib(allowed)}`,
  };
}

/** Over the second half: before, caches fill and buffers find their size. */
function memoryOf(memory: (typeof memories)[number], samples: readonly Sample[]): Judged {
  const half = samples.slice(Math.floor(samples.length / 2));
  const values = half.map(({ at, memory: of }) => ({ at, value: of[memory] }));
  const risen = rise(values);
  const typical = median(values.map(({ value }) => value));
  const allowed = Math.max(bounds.memoryShare * typical, bounds.memoryBytes);
  return {
    what: "memory",
    holds: risen <= allowed,
    text: `${memory} over the second half: ${mib(risen)} more at ${mib(typical)}, <= ${mib(allowed)}`,
  };
}

function loopOf({ idleMillis, loopMillis }: Outcome): Judged {
  const above = loopMillis - idleMillis;
  return {
    what: "loop",
    holds: above <= bounds.loopMillis,
    text: `loop delay p99 above an idle loop's: ${loopMillis.toFixed(2)} - ${idleMillis.toFixed(2)} = ${above.toFixed(2)} ms <= ${bounds.loopMillis} ms`,
  };
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
