import { createRequire } from "node:module";
import { nearestName } from "@ehdb/contracts";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { bounds, defaults } from "./options.ts";
import type { RunOptions } from "./options.ts";
import type { Verb } from "./verb.ts";

const ALL = "all";

export interface Invocation {
  readonly verbs: readonly Verb[];
  readonly options: RunOptions;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** As commander has it: a switch that isn't given is missing. */
type Given = Omit<RunOptions, "strict" | "keep"> & Partial<Record<"strict" | "keep" | "json" | "quiet", boolean>>;

/** The command line was wrong, or only asked for help: nothing runs. Commander has printed why. */
export class NothingToRun extends Error {
  override readonly name = "NothingToRun";
  readonly asked: boolean;

  constructor(asked: boolean) {
    super("nothing to run");
    this.asked = asked;
  }
}

/** Reads the arguments after the program's name. Throws NothingToRun. */
export function parseCommandLine(args: readonly string[], known: readonly Verb[]): Invocation {
  const command = describe(known);
  try {
    command.parse(args, { from: "user" });
    const { json = false, quiet = false, strict = false, keep = false, ...others } = command.opts<Given>();
    return { verbs: chooseVerbs(command, known), options: { ...others, strict, keep }, json, quiet };
  } catch (error) {
    if (error instanceof CommanderError) throw new NothingToRun(error.exitCode === 0);
    throw error;
  }
}

function describe(known: readonly Verb[]): Command {
  const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };
  return new Command("ehdb-selfcheck")
    .description("Proves on real events that EHDB works on this machine, verb by verb.")
    .argument("[verb...]", `${[...known.map((verb) => verb.name), ALL].join(", ")} (default: ${ALL})`)
    .addOption(whole("--events <count>", "events", "how many events the journal verb appends"))
    .addOption(whole("--kills <count>", "kills", "how often the recovery verb kills; 0 disables it"))
    .addOption(whole("--seed <number>", "seed", "ids of the events, and when the kills come"))
    .option("--dir <directory>", "work in a directory of its own below this one (default: a temporary one)")
    .option("--input <file>", "your own events, JSON Lines (default: payloads of GitHub's webhooks)")
    .option("--strict", "a missed service level is a failure")
    .option("--keep", "leave the run's directory behind")
    .option("--json", "one JSON line a verb on standard output, and nothing else")
    .option("--quiet", "print only what isn't as it should be")
    .addHelpText("after", `\nVerbs:\n${known.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join("\n")}`)
    .addHelpText(
      "after",
      "\nExit codes: 0 ok or disabled, 2 usage, 3 input rejected, 4 configuration invalid, 5 unavailable or not equal, 130 interrupted",
    )
    .version(version)
    .showHelpAfterError("Try ehdb-selfcheck --help")
    .exitOverride();
}

function whole(flags: string, name: keyof typeof bounds, description: string): Option {
  const { least, most } = bounds[name];
  return new Option(flags, description).default(defaults[name]).argParser((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  });
}

/** In the verbs' own order, each once, however they were given. */
function chooseVerbs(command: Command, known: readonly Verb[]): readonly Verb[] {
  const names = [...known.map((verb) => verb.name), ALL];
  for (const word of command.args) {
    if (names.includes(word)) continue;
    const near = nearestName(word, names);
    command.error(
      `error: unknown verb '${word}'\n${near === undefined ? `(Known are ${names.join(", ")})` : `(Did you mean ${near}?)`}`,
      { exitCode: 2 },
    );
  }
  if (command.args.length === 0 || command.args.includes(ALL)) return known;
  return known.filter((verb) => command.args.includes(verb.name));
}
