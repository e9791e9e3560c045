/**
 * The process that verbs kill: it fills a store without end, and writes a line to its standard output for each write
 * that has become durable. It never stops by itself, unless its parent has gone.
 */
import { realHost } from "@ehdb/host";
import { loadEvents } from "./events.ts";
import { formatAcknowledgement } from "./victim-arguments.ts";
import type { Acknowledgement, VictimArguments } from "./victim-arguments.ts";
import { fillEventLog } from "./victims/eventlog.ts";
import { fillJournal } from "./victims/journal.ts";
import { fillEngine } from "./victims/l0.ts";

const given = JSON.parse(process.argv[2] ?? "") as VictimArguments;

// Nobody reads any more: the parent has ended.
process.stdout.on("error", () => process.exit(1));

const host = realHost();
const { source } = await loadEvents(host, given);
const fill = { journal: fillJournal, eventlog: fillEventLog, l0: fillEngine }[given.store];
await fill({
  host,
  source,
  dir: given.dir,
  round: given.round,
  acknowledge: (acknowledgement: Acknowledgement) => process.stdout.write(formatAcknowledgement(acknowledgement)),
});
