import { isEhdbError } from "@ehdb/contracts";
import type { RecordedEvent } from "@ehdb/contracts";
import { openEventLogReader } from "@ehdb/eventlog";
import type { EventLogReader } from "@ehdb/eventlog";
import { Option } from "commander";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { eventOptions, filterOf } from "../event-options.ts";
import type { EventOptions } from "../event-options.ts";
import { exit } from "../exit-codes.ts";
import { eventLine } from "../json-lines.ts";
import { printable } from "../printable.ts";
import { wholeNumber } from "../whole-number.ts";

interface Options extends EventOptions {
  readonly last: number;
  readonly follow: boolean;
}

export const tail: Command<Options> = {
  name: "tail",
  summary: "shows events as they come, also while another process writes them",
  about:
    "Begins with the last ones, then follows until Ctrl-C. With --json each line is an event as `ehdb export` has it.",
  args: [store],
  examples: [
    { line: "ehdb tail ./store --last 5 --no-follow", says: "the last five positions, and no more" },
    { line: "ehdb tail ./store --after 0 --limit 3", says: "from the beginning; ends after three events" },
    { line: "ehdb tail ./store --type paid --limit 1 --json", says: "waits, if it must, for an event of a type" },
  ],
  options: (parser) => {
    eventOptions(parser);
    parser
      .addOption(
        new Option("--last <positions>", "begin so many positions before the end")
          .argParser(wholeNumber(0))
          .default(10)
          .conflicts("after"),
      )
      .option("--no-follow", "end where the log ends now");
  },
  async run(session, [dir = ""], options) {
    await using log = await openEventLogReader({ dir, host: session.io.host, ...session.encryption });
    await log.refresh();
    // Where it ends when nobody follows; what comes meanwhile is another's.
    const end = log.position;
    const line = session.json ? eventLine : shown;
    let left = options.limit ?? Infinity;
    try {
      for await (const batch of eventsOf(log, end, options, session.signal).batches()) {
        const now = options.follow ? batch : batch.filter(({ position }) => position <= end);
        const wanted = now.slice(0, Math.min(now.length, left));
        await session.io.out(wanted.map(line).join(""));
        left -= wanted.length;
        if (left === 0 || now.length < batch.length) break;
      }
    } catch (error) {
      // That is how it ends.
      if (!session.signal.aborted || !isEhdbError(error, "ABORTED")) throw error;
    }
    return exit.fine;
  },
};

function eventsOf(
  log: EventLogReader,
  end: number,
  options: Options,
  signal: AbortSignal,
): ReturnType<EventLogReader["scan"]> {
  const after = options.after ?? Math.max(log.firstPosition - 1, end - options.last);
  const wanted = { after, ...filterOf(options), signal };
  return options.follow ? log.subscribe(wanted) : log.scan(wanted);
}

function shown({ position, time, stream, version, type, data }: RecordedEvent): string {
  const content = data instanceof Uint8Array ? `${data.length} bytes` : (JSON.stringify(data) ?? "");
  return `${printable(`${position}  ${new Date(time).toISOString()}  ${stream}@${version}  ${type}  ${content}`)}\n`;
}
