// The programs that measure, simulate, kill and wear out the packages: npm run bench, sim, kill, faults, soak, mutants.
import type { BenchSize } from "@ehdb/harness";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { bench } from "./bench.ts";
import { faults } from "./faults.ts";
import { kill } from "./kill.ts";
import { mutants } from "./mutants.ts";
import { sim } from "./sim.ts";
import { soak } from "./soak.ts";
import { UsageError } from "./usage-error.ts";

const program = new Command("runners").exitOverride().showHelpAfterError().configureHelp({ showGlobalOptions: false });
const tierOption = new Option("--tier <name>", "the package's name, such as journal").makeOptionMandatory();
let exitCode = 0;

program
  .command("bench")
  .description("measure beside floors and peers; shapes decide the exit code")
  .option("--only <pattern>", "a canonical name or the beginning of some; * stands for anything")
  .addOption(new Option("--size <size>").choices(["tiny", "small", "full"]).default("small"))
  .option("--json <file>", "write the report")
  .option("--compare <file>", "print the difference to an earlier report")
  .action(async (options: { only?: string; size: BenchSize; json?: string; compare?: string }) => {
    exitCode = await bench(options);
  });

program
  .command("sim")
  .description("random histories with crashes and faults on the simulated host")
  .addOption(tierOption)
  .requiredOption("--seeds <number>", "how many", whole(1))
  .option("--from <seed>", "the first seed", whole(0), 1)
  .action(async (options: { tier: string; seeds: number; from: number }) => {
    exitCode = await sim(options);
  });

program
  .command("kill")
  .description("kill a real process under load and count what it acknowledged")
  .addOption(tierOption)
  .requiredOption("--times <number>", "how many kills", whole(1))
  .option("--seed <number>", "of the kills' moments", whole(0), 1)
  .action(async (options: { tier: string; times: number; seed: number }) => {
    exitCode = await kill(options);
  });

program
  .command("faults")
  .description("let the machine fail in ways it really can: disks, other processes, limits")
  .addOption(tierOption)
  .option("--only <text>", "only those whose name holds it")
  .action(async (options: { tier: string; only?: string }) => {
    exitCode = await faults(options);
  });

program
  .command("soak")
  .description("constant load for minutes: what grows, what slows down, what isn't what was written")
  .addOption(new Option("--tier <name>", "the package's name").default("eventlog"))
  .requiredOption("--minutes <number>", "how long; fractions too", minutes)
  .option("--control <name>", "plant a defect, which the run must find")
  .option("--json <file>", "write the figures")
  .action(async (options: { tier: string; minutes: number; control?: string; json?: string }) => {
    exitCode = await soak(options);
  });

program
  .command("mutants")
  .description("plant defects and expect the simulation to find them")
  .addOption(tierOption)
  .option("--only <text>", "only those whose name holds it")
  .action(async (options: { tier: string; only?: string }) => {
    exitCode = await mutants(options);
  });

function whole(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!Number.isSafeInteger(number) || number < least)
      throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
    return number;
  };
}

function minutes(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 10_000)) throw new InvalidArgumentError("It must be a number above 0.");
  return number;
}

// An ordinary exit, so that scratch directories go.
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof UsageError) {
    console.error(error.message);
    exitCode = 2;
  } else {
    console.error(error);
    exitCode = 1;
  }
}
process.exitCode = exitCode;
