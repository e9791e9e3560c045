/**
 * The process that `recovery` kills: it appends without end, and writes a line to its standard output for each append
 * that has become durable. It never stops by itself, unless its parent has gone.
 */
import { realHost } from "@ehdb/host";
import { openJournal } from "@ehdb/journal";
import { loadEvents } from "./events.ts";
import { runLoad } from "./load.ts";
import { LoadPlan } from "./load-plan.ts";
import { formatAcknowledgement } from "./victim-arguments.ts";
import type { VictimArguments } from "./victim-arguments.ts";

const { dir, segmentBytes, seed, events, input, round } = JSON.parse(process.argv[2] ?? "") as VictimArguments;

// Nobody reads any more: the parent has ended.
process.stdout.on("error", () => process.exit(1));

const host = realHost();
const { source } = await loadEvents(host, { seed, events, input });
const journal = await openJournal({ dir, host, segmentBytes });
await runLoad({
  journal,
  source,
  round,
  plan: new LoadPlan(Infinity, source.maxBytes),
  clock: host.clock,
  onAcknowledged: ({ numbers, sequence }) => process.stdout.write(formatAcknowledgement(numbers, sequence)),
});
