import { inspectStore } from "@ehdb/l0";
import type { DurableEngine, EngineOptions } from "@ehdb/l0";
import { Option } from "commander";
import type { Command as Parser } from "commander";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { exit } from "../exit-codes.ts";
import { list, size } from "../table.ts";
import type { CommonOptions, Session } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";
import { withEngine } from "../writable.ts";

/** What decides what a merge forgets, and how it writes parts. */
interface MergeOptions extends CommonOptions {
  readonly dedupeWindow: number;
  readonly historyRevisions?: number;
  readonly compression: "none" | "deflate";
}

interface OneDataset extends MergeOptions {
  readonly dataset?: string;
}

/** The largest there is: who gives no smaller one forgets no ids. */
const mostWindow = 2 ** 24;

function mergeOptions(parser: Parser): void {
  parser
    .option(
      "--dedupe-window <records>",
      "ids are known for so many newest records of a log: at least what the writing program says",
      wholeNumber(0, mostWindow),
      mostWindow,
    )
    .addOption(
      new Option("--compression <kind>", "of the parts that are written: what the writing program says, else they grow")
        .choices(["none", "deflate"])
        .default("none"),
    );
}

export const merge: Command<OneDataset> = {
  name: "merge",
  isWriter: true,
  summary: "makes one part of all that a dataset has in parts",
  about:
    "What newer values hide, and what was erased, goes. A running program does this by itself; here it's done at once. A store doesn't say which options its program opens it with: give --history-revisions and --compression as that program has them, else older versions of values that it keeps go for good, and parts that it compresses grow. Opens the store as its writer, which no other process may be.",
  args: [store],
  examples: [
    { line: "ehdb merge ./store", says: "every dataset" },
    { line: "ehdb merge ./store --dataset eventlog.consumers", says: "one of them" },
  ],
  options: (parser) => {
    parser
      .option("--dataset <name>", "only this one")
      .option(
        "--history-revisions <count>",
        "of a map, each version is kept for so many newer commits (default: 16384)",
        wholeNumber(0),
      );
    mergeOptions(parser);
  },
  async run(session, [dir = ""], { dataset, ...options }) {
    const instead = "call engine.merge() in it";
    return await compared(session, dir, options, instead, (engine) =>
      engine.merge(dataset === undefined ? {} : { dataset }),
    );
  },
};

export const scavenge: Command<MergeOptions> = {
  name: "scavenge",
  isWriter: true,
  summary: "erases from the disk what was erased, deleted or hidden by newer values",
  about:
    "Seals, merges each dataset into one part without any history, whatever historyRevisions its program has, and removes what that leaves behind. A backup still has it. A store doesn't say how its program compresses parts: give --compression as that has it. Opens the store as its writer, which no other process may be.",
  args: [store],
  examples: [{ line: "ehdb scavenge ./store", says: "and tells what it has freed" }],
  options: mergeOptions,
  async run(session, [dir = ""], options) {
    const instead = "call engine.scavenge() in it";
    return await compared(session, dir, options, instead, (engine) => engine.scavenge());
  },
};

/** Does something to a store, and tells what has become of its parts. */
async function compared(
  session: Session,
  dir: string,
  { dedupeWindow, historyRevisions, compression }: MergeOptions,
  instead: string,
  work: (engine: DurableEngine) => Promise<unknown>,
): Promise<number> {
  const options: Partial<EngineOptions> = {
    dedupeWindow,
    compression,
    ...(historyRevisions === undefined ? {} : { historyRevisions }),
  };
  const before = await partsOf(session, dir);
  const stats = await withEngine(session, dir, options, instead, async (engine) => {
    await work(engine);
    return engine.stats();
  });
  const after = await partsOf(session, dir);
  const facts = {
    dir,
    before,
    after,
    merges: stats.merges,
    superseded: stats.records_superseded,
    erased: stats.records_erased,
    dropped: stats.records_dropped,
  };
  await session.answer(facts, () =>
    list([
      ["parts", `${before.parts}, now ${after.parts}`],
      ["their bytes", `${size(before.bytes)}, now ${size(after.bytes)}`],
      ["hidden values that went", facts.superseded],
      ["erased records that went", facts.erased],
      ["records below a floor that went", facts.dropped],
    ]),
  );
  return exit.fine;
}

async function partsOf(session: Session, dir: string): Promise<{ parts: number; bytes: number }> {
  const { datasets } = await inspectStore({ dir, host: session.io.host, ...session.encryption });
  return {
    parts: datasets.reduce((sum, { parts }) => sum + parts, 0),
    bytes: datasets.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
