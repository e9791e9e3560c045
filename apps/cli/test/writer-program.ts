// Has an event log open, and appends an event for each line that it reads.
import { createInterface } from "node:readline";
import { openEventLog } from "@ehdb/eventlog";

const [dir = ""] = process.argv.slice(2);
const log = await openEventLog({ dir });
process.stdout.write("open\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { position } = await log.append("live", { type: "line", data: line });
  process.stdout.write(`${position}\n`);
}
await log.close();
