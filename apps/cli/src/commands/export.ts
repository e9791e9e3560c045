import { EhdbError } from "@ehdb/contracts";
import { eventLogReaderOn } from "@ehdb/eventlog";
import { openEngineReader } from "@ehdb/l0";
import type { EngineReader } from "@ehdb/l0";
import { Option } from "commander";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { isEventLog } from "../event-log.ts";
import { eventOptions, filterOf } from "../event-options.ts";
import type { EventOptions } from "../event-options.ts";
import { exit } from "../exit-codes.ts";
import { eventLine, logLine, mapLine } from "../json-lines.ts";
import type { Session } from "../session.ts";

interface Options extends EventOptions {
  readonly dataset?: string;
}

export const exportEvents: Command<Options> = {
  name: "export",
  summary: "writes events, or the records of any dataset, as JSON Lines",
  about:
    "In order of position, as of the moment when it begins; what is hidden is left out. A writer may be at work. An event is { position, stream, version, id, type, time, data, metadata }, with dataBase64 instead of data where it is bytes; a record of a dataset has its key, numbers and payload.",
  args: [store],
  examples: [
    { line: "ehdb export ./store > events.jsonl", says: "all events" },
    { line: "ehdb export ./store --stream order-1 --type paid", says: "some of them" },
    { line: "ehdb export ./store --after 50", says: "what came behind a position" },
    { line: "ehdb export ./store --dataset eventlog.streams", says: "a dataset as the engine has it" },
  ],
  options: (parser) => {
    eventOptions(parser);
    const dataset = new Option("--dataset <name>", "the records of this dataset instead of events");
    parser.addOption(dataset.conflicts(["stream", "streamPrefix", "type"]));
  },
  async run(session, [dir = ""], options) {
    await using reader = await openEngineReader({ dir, host: session.io.host, ...session.encryption });
    if (options.dataset !== undefined) await exportDataset(session, reader, options.dataset, options);
    else if (isEventLog(reader)) await exportAll(session, reader, options);
    else throw notAnEventLog(reader);
    return exit.fine;
  },
};

async function exportAll(session: Session, reader: EngineReader, options: EventOptions): Promise<void> {
  const log = await eventLogReaderOn(reader);
  const show = session.progress.of("exporting");
  const { after = log.firstPosition - 1, limit } = options;
  const events = log.scan({
    after,
    ...(limit === undefined ? {} : { limit }),
    ...filterOf(options),
    signal: session.signal,
  });
  for await (const batch of events.batches()) {
    await session.io.out(batch.map(eventLine).join(""));
    show(batch.at(-1)?.position ?? 0, log.position);
  }
}

async function exportDataset(
  session: Session,
  reader: EngineReader,
  name: string,
  { after, limit }: EventOptions,
): Promise<void> {
  const options = { ...(limit === undefined ? {} : { limit }), signal: session.signal };
  const isMap = reader.datasets.some((one) => one.name === name && one.order === "by-key");
  if (isMap) {
    if (after !== undefined) throw noPositions(name, after);
    for await (const batch of reader.map(name).scan(options)) await session.io.out(batch.map(mapLine).join(""));
    return;
  }
  const from = after === undefined ? {} : { from: after + 1 };
  for await (const batch of reader.log(name).scan({ ...from, ...options })) {
    await session.io.out(batch.map(logLine).join(""));
  }
}

function noPositions(dataset: string, after: number): EhdbError {
  const message = `--after ${after} is a position of a log, and ${dataset} is a map, which has none: leave it away`;
  return new EhdbError("INVALID_OPTION", message, { option: "--after", dataset });
}

function notAnEventLog({ dir, datasets }: EngineReader): EhdbError {
  const names = datasets.map(({ name }) => name).join(", ");
  const message = `${dir} holds no event log. Choose one of its datasets with --dataset NAME: ${names}`;
  return new EhdbError("NOT_FOUND", message, { dir });
}
