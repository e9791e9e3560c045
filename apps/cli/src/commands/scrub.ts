import type { ScrubOptions } from "@ehdb/l0";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { reportText } from "../damage-text.ts";
import { exit } from "../exit-codes.ts";
import type { CommonOptions } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";
import { withEngine } from "../writable.ts";

interface Options extends CommonOptions {
  readonly bytesPerSecond?: number;
}

export const scrub: Command<Options> = {
  name: "scrub",
  isWriter: true,
  summary: "verifies a store at a pace that leaves the disk to others",
  about:
    "Opens the store as its writer, which no other process may be. For a store that is open there is `ehdb verify`, and `engine.scrub()` within its process. Exit code 1 when something is damaged.",
  args: [store],
  examples: [{ line: "ehdb scrub ./store --bytes-per-second 50000000", says: "about 50 MB a second" }],
  options: (parser) => {
    parser.option("--bytes-per-second <count>", "on average: from 4096 (default: 16 MiB)", wholeNumber(4096));
  },
  async run(session, [dir = ""], { bytesPerSecond }) {
    const options: ScrubOptions = {
      signal: session.signal,
      onProgress: session.progress.of("scrubbing"),
      ...(bytesPerSecond === undefined ? {} : { bytesPerSecond }),
    };
    const instead = "look with `ehdb verify`, or call engine.scrub() in it";
    const report = await withEngine(session, dir, {}, instead, (engine) => engine.scrub(options));
    await session.answer(report, () => reportText(report, dir));
    return report.ok ? exit.fine : exit.found;
  },
};
