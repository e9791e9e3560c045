import { verifyStore } from "@ehdb/l0";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { reportText } from "../damage-text.ts";
import { exit } from "../exit-codes.ts";

export const verify: Command = {
  name: "verify",
  summary: "reads every byte of a store, and tells what isn't as it was written",
  about:
    "Manifests, each block of each part, the journal, and whether they agree. Changes nothing. A writer may be at work: what it changes meanwhile isn't damage. Exit code 1 when something is damaged.",
  args: [store],
  examples: [
    { line: "ehdb verify ./store", says: "what was looked at, and each damaged place" },
    { line: "ehdb verify ./store --json", says: "the report as one JSON document" },
  ],
  async run(session, [dir = ""]) {
    const report = await verifyStore({
      dir,
      host: session.io.host,
      signal: session.signal,
      onProgress: session.progress.of("verifying"),
      ...session.encryption,
    });
    await session.answer(report, () => reportText(report, dir));
    return report.ok ? exit.fine : exit.found;
  },
};
