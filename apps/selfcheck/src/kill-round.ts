import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { abortedError, MIB } from "@ehdb/contracts";
import type { Clock } from "@ehdb/host";
import { SelfcheckError } from "./outcome.ts";
import type { SeededRandom } from "./random.ts";
import type { VerbContext } from "./verb.ts";
import { parseAcknowledgement } from "./victim-arguments.ts";
import type { Acknowledgement, VictimArguments } from "./victim-arguments.ts";

/** A child that acknowledges nothing for so long is stuck. */
const PATIENCE_MILLIS = 60_000;
/** So much of what a failing child wrote is told. */
const TOLD_BYTES = 2000;

/** Acknowledged events that a round has at least and at most before its kill; fewer of large ones. */
const LEAST_EVENTS = 100;
const MOST_EVENTS = 600;
const MOST_BYTES = 64 * MIB;

export interface Killed {
  readonly store: VictimArguments["store"];
  readonly dir: string;
  readonly round: number;
  /** Says when the kill comes. */
  readonly random: SeededRandom;
}

/** One round with the run's own events: starts a process, and kills it after a seeded number of acknowledged events. */
export async function killRound(
  context: VerbContext,
  { random, ...killed }: Killed,
  onAcknowledged: (acknowledgement: Acknowledgement) => void,
): Promise<void> {
  const { seed, input, streamField, typeField, events, kills } = context.options;
  const { source } = await context.events();
  const largest = Math.max(1, Math.floor(MOST_BYTES / source.meanBytes));
  const least = Math.min(LEAST_EVENTS, largest);
  const most = Math.min(largest, Math.max(2 * least, Math.min(MOST_EVENTS, Math.floor(events / kills))));
  await killInMidLoad({
    victim: context.victim,
    arguments: { ...killed, seed, input, streamField, typeField, events },
    killAfter: least + random.integer(most - least),
    clock: context.host.clock,
    signal: context.signal,
    onAcknowledged,
  });
}

interface KillRound {
  /** The program, a path. */
  readonly victim: string;
  readonly arguments: VictimArguments;
  /** SIGKILL comes when so many events are acknowledged. */
  readonly killAfter: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onAcknowledged: (acknowledgement: Acknowledgement) => void;
}

/** Starts the child, kills it in mid-load, and resolves when it is dead and its last whole line is read. */
async function killInMidLoad(round: KillRound): Promise<void> {
  const { signal } = round;
  if (signal.aborted) throw abortedError(signal, "the kill");
  const child = spawn(process.execPath, [round.victim, JSON.stringify(round.arguments)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const kill = (): void => void child.kill("SIGKILL");
  const patience = round.clock.timer(PATIENCE_MILLIS, kill, true);
  signal.addEventListener("abort", kill);
  let [acknowledged, complaint] = [0, ""];
  child.stderr.on("data", (bytes: Buffer) => (complaint = (complaint + bytes.toString()).slice(0, TOLD_BYTES)));
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    // The last line may have been cut by the kill: then it acknowledges nothing.
    const acknowledgement = parseAcknowledgement(line);
    if (acknowledgement === undefined) return;
    acknowledged += acknowledgement.count;
    round.onAcknowledged(acknowledgement);
    if (acknowledged >= round.killAfter) kill();
  });
  const drained = once(lines, "close");
  try {
    const [code, killer] = await closed;
    await drained;
    if (signal.aborted) throw abortedError(signal, "the kill");
    if (acknowledged >= round.killAfter && killer === "SIGKILL") return;
    const how = killer === null ? `ended with code ${code}` : `was ended by ${killer}`;
    throw new SelfcheckError(
      "unavailable",
      `the child ${how} after ${acknowledged} of ${round.killAfter} events: ${complaint.trim() || "it said nothing"}`,
    );
  } finally {
    patience.cancel();
    signal.removeEventListener("abort", kill);
    kill();
  }
}
