import { createRequire } from "node:module";
import { nearestName } from "@ehdb/contracts";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { bounds, defaults } from "./options.ts";
import type { EventsOptions } from "./events.ts";
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

  constructor(asked: boolean, why: string) {
    super(why.replace(/^error: /, ""));
    this.asked = asked;
  }
}

/** Reads the arguments after the program's name. Throws NothingToRun. */
export function parseCommandLine(args: readonly string[], known: readonly Verb[]): Invocation {
  const command = describe(known);
  try {
    command.parse(args, { from: "user" });
    const { json = false, quiet = false, strict = false, keep = false, ...others } = command.opts<Given>();
    checkFields(command, others);
    return { verbs: chooseVerbs(command, known), options: { ...others, strict, keep }, json, quiet };
  } catch (error) {
    if (error instanceof CommanderError) throw new NothingToRun(error.exitCode === 0, error.message);
    throw error;
  }
}

function describe(known: readonly Verb[]): Command {
  const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };
  return new Command("ehdb-selfcheck")
    .description("Proves on real events that EHDB works on this machine, verb by verb.")
    .argument("[verb...]", `${[...known.map((verb) => verb.name), ALL].join(", ")} (default: ${ALL})`)
    .addOption(whole("--events <count>", "events", "how many events a verb appends"))
    .addOption(
      whole("--kills <count>", "kills", "how often the recovery verb kills, and l0 and eventlog half as often"),
    )
    .addOption(whole("--seed <number>", "seed", "ids of the events, and when the kills come"))
    .option("--dir <directory>", "work in a directory of its own below this one (default: a temporary one)")
    .option("--input <file>", "your own events, JSON Lines (default: payloads of GitHub's webhooks)")
    .option(
      "--stream-field <name>",
      "the field of your events that names their stream; a path with dots (default: one stream)",
    )
    .option("--type-field <name>", "the field that names their type (default: type)")
    .option("--strict", "a missed service level is a failure")
    .option("--keep", "leave the run's directory behind")
    .option("--json", "one JSON line a verb on standard output, and nothing else")
    .option("--quiet", "print only what isn't as it should be")
    .addHelpText("after", `\nVerbs:\n${known.map(describeVerb).join("\n")}`)
    .addHelpText(
      "after",
      "\nExit codes: 0 ok or disabled, 2 usage, 3 input rejected, 4 configuration invalid, 5 unavailable or not equal, 130 interrupted",
    )
    .version(version)
    .showHelpAfterError("Try ehdb-selfcheck --help")
    .exitOverride();
}

function describeVerb({ name, alias, summary }: Verb): string {
  const also = alias === undefined ? "" : ` (also called ${alias})`;
  return `  ${name.padEnd(10)} ${summary}${also}`;
}

function whole(flags: string, name: keyof typeof bounds, description: string): Option {
  const { least, most } = bounds[name];
  return new Option(flags, description).default(defaults[name]).argParser((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  });
}

function checkFields(command: Command, { input, streamField, typeField }: EventsOptions): void {
  for (const [option, field] of [
    ["--stream-field", streamField],
    ["--type-field", typeField],
  ] as const) {
    if (field === undefined) continue;
    if (input === undefined) command.error(`error: ${option} names a field of your own events: give them with --input`);
    if (field === "") command.error(`error: ${option} needs the name of a field`);
  }
}

/** In the verbs' own order, each once, however they were given. Called by its alias, a verb has that name. */
function chooseVerbs(command: Command, known: readonly Verb[]): readonly Verb[] {
  const names = [...known.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias])), ALL];
  for (const word of command.args) {
    if (names.includes(word)) continue;
    const near = nearestName(word, names);
    command.error(
      `error: unknown verb '${word}'\n${near === undefined ? `(Known are ${names.join(", ")})` : `(Did you mean ${near}?)`}`,
      { exitCode: 2 },
    );
  }
  const all = command.args.length === 0 || command.args.includes(ALL);
  return known.flatMap((verb) => {
    if (verb.alias !== undefined && command.args.includes(verb.alias)) return [{ ...verb, name: verb.alias }];
    return all || command.args.includes(verb.name) ? [verb] : [];
  });
}
