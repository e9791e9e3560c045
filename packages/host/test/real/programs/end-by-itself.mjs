// Leaves behind a watcher, a timer that nobody waits for and an idle worker thread: none of them keeps the process.
import { realHost } from "@ehdb/host";
import { sum } from "../jobs.mjs";

const { clock, files, workers } = realHost();
files.watch(import.meta.dirname, () => {});
clock.timer(3_600_000, () => process.stdout.write("an hour later\n"));
process.stdout.write(`${await workers.run(sum, [1, 2, 3])}\n`);
clock.timer(1, () => process.stdout.write("awaited\n"), true);
