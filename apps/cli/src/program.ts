import { createRequire } from "node:module";
import { EhdbError } from "@ehdb/contracts";
import { Command as Parser } from "commander";
import type { Command } from "./command.ts";
import { commands } from "./commands/index.ts";
import { exit } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { Session } from "./session.ts";
import type { CommonOptions } from "./session.ts";
import { storeTopic } from "./store-topic.ts";
import { several } from "./whole-number.ts";

export interface Outcome {
  code: number;
}

const exitCodes = `Exit codes: 0 fine, 1 damage or a difference was found, 2 wrong use, 3 it can't be done now (locked, no space, the disk);
130 and the like when a signal ended it.`;

/** The program, which leaves in `outcome` how a command ended. */
export function programOf(io: Io, outcome: Outcome): Parser {
  const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };
  const program = new Parser("ehdb")
    .description("Looks into EHDB's stores, verifies, mends, exports and follows them.")
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => void io.out(text), writeErr: (text) => io.err(text) })
    .helpCommand(false)
    .showHelpAfterError("Try ehdb help, or ehdb help COMMAND");
  for (const command of commands) add(program, command, io, outcome);
  program
    .command("help [topic]")
    .description("this, or help on a command, or on `store`: what lies in a store's directory")
    .action((topic: string | undefined) => help(program, io, topic));
  return program.addHelpText(
    "after",
    `
Examples:
  ehdb inspect ./store
  ehdb verify ./store
  ehdb tail ./store
  ehdb export ./store > events.jsonl

ehdb help store says what lies in a store's directory. Keys of encrypted stores: --key ID=FILE, or the variable EHDB_KEY_ID.
${exitCodes}`,
  );
}

function add<O extends CommonOptions>(program: Parser, command: Command<O>, io: Io, outcome: Outcome): void {
  const { name, summary, about, args, examples } = command;
  const parser = program.command(name).summary(summary).description(`${summary}.\n\n${about}`);
  for (const [arg, what] of args) parser.argument(arg, what);
  command.options?.(parser);
  parser
    .option("--json", "for machines: one JSON document, or JSON Lines where events come")
    .option("--quiet", "no progress")
    .option("--key <id=file>", "a key of an encrypted store; several times for several", several);
  if (command.isWriter === true) {
    parser.option(
      "--current-key <id>",
      "the one that encrypts what is written (default: as the store is; of a new one the first)",
    );
  }
  parser
    .addHelpText("after", `\nExamples:\n${examples.map(({ line, says }) => `  ${line}\n      ${says}\n`).join("")}`)
    .action(async () => {
      const options = parser.opts<O>();
      const session = await Session.begin(io, options);
      for (const [at, [arg]] of args.entries()) {
        if (arg !== "<file>") await assertDirectory(io, parser.args[at]);
      }
      try {
        outcome.code = await command.run(session, parser.args, options);
      } finally {
        session.progress.clear();
      }
    });
}

/** What is there and isn't a directory can't be a store; nor can what nobody may look at. */
async function assertDirectory({ host }: Io, path: string | undefined): Promise<void> {
  if (path === undefined || path === "") return;
  try {
    const found = await host.files.stat(path);
    if (found === undefined || found.kind === "directory") return;
  } catch (error) {
    const errno = error instanceof Error && "code" in error ? String(error.code) : undefined;
    if (errno === "ENOTDIR") throw noDirectory(path);
    const message = `${path} can't be looked at: ${error instanceof Error ? error.message : String(error)}`;
    throw new EhdbError("IO_ERROR", message, { path, errno }, error);
  }
  throw noDirectory(path);
}

function noDirectory(path: string): EhdbError {
  const message = `${path} is no directory: a store is one, and each command is given that`;
  return new EhdbError("INVALID_OPTION", message, { path });
}

function help(program: Parser, io: Io, topic: string | undefined): void {
  if (topic === undefined) return program.outputHelp();
  if (topic === "store") return void io.out(storeTopic);
  const found = program.commands.find((command) => command.name() === topic);
  if (found === undefined) program.error(`error: there is no help on '${topic}'`, { exitCode: exit.usage });
  else found.outputHelp();
}
