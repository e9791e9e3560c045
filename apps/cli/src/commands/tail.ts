import { isEhdbError } from "@ehdb/contracts";
import type { RecordedEvent } from "@ehdb/contracts";
import { openEventLogReader } from "@ehdb/eventlog";
import type { EventLogReader } from "@ehdb/eventlog";
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
      .option("--last <positions>", "begin so many positions before the end", wholeNumber(0), 10)
      .option("--no-follow", "end where the log ends now");
  },
  async run(session, [dir = ""], options) {
    await using log = await openEventLogReader({ dir, host: session.io.host, ...session.encryption });
    const line = session.json ? eventLine : shown;
    let left = options.limit ?? Infinity;
    try {
      for await (const batch of eventsOf(log, options, session.signal).batches()) {
        const wanted = batch.length > left ? batch.slice(0, left) : batch;
        await session.io.out(wanted.map(line).join(""));
        left -= wanted.length;
        if (left === 0) break;
      }
    } catch (error) {
      // That is how it ends.
      if (!session.signal.aborted || !isEhdbError(error, "ABORTED")) throw error;
    }
    return exit.fine;
  },
};

function eventsOf(log: EventLogReader, options: Options, signal: AbortSignal): ReturnType<EventLogReader["scan"]> {
  const after = options.after ?? Math.max(log.firstPosition - 1, log.position - options.last);
  const wanted = { after, ...filterOf(options), signal };
  return options.follow ? log.subscribe(wanted) : log.scan(wanted);
}

function shown({ position, time, stream, version, type, data }: RecordedEvent): string {
  const content = data instanceof Uint8Array ? `${data.length} bytes` : (JSON.stringify(data) ?? "");
  return `${printable(`${position}  ${new Date(time).toISOString()}  ${stream}@${version}  ${type}  ${content}`)}\n`;
}
