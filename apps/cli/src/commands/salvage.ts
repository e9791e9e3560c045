import { salvageStore } from "@ehdb/l0";
import type { SalvageStoreReport } from "@ehdb/l0";
import { assertOutside } from "../assert-outside.ts";
import { store } from "../command.ts";
import type { Command } from "../command.ts";
import { exit } from "../exit-codes.ts";
import { printable } from "../printable.ts";
import { list } from "../table.ts";
import { assertUnheld } from "../writable.ts";
import { writingKeys } from "../writing-keys.ts";

export const salvage: Command = {
  name: "salvage",
  isWriter: true,
  summary: "makes a new store of all that is whole in a damaged one",
  about:
    "Into a directory that is missing or empty. The damaged store is only read, and no other process may have it open. Positions, versions and times stay; what is lost is told, and then the exit code is 1. A backup that is whole loses less: see `ehdb restore`.",
  args: [store, ["<to>", "the new store's directory"]],
  examples: [{ line: "ehdb salvage ./store ./salvaged", says: "of a store that is whole: all of it" }],
  async run(session, [dir = "", to = ""]) {
    await assertOutside(dir, to);
    await assertUnheld(dir, "make a copy of the directory when it has ended, and salvage that");
    const report = await salvageStore({
      dir,
      to,
      host: session.io.host,
      signal: session.signal,
      onProgress: session.progress.of("salvaging"),
      ...(await writingKeys(session, dir)),
    });
    await session.answer({ dir, to, ...report }, () => text(report));
    return report.lost.length === 0 ? exit.fine : exit.found;
  },
};

function text({ records, partsCopied, partsRebuilt, commits, damage, lost }: SalvageStoreReport): string {
  const saved = list([
    ["records in parts", records],
    ["parts copied as they are", partsCopied],
    ["parts made anew", partsRebuilt],
    ["commits of the journal", commits],
    ["damaged places", damage.length],
  ]);
  if (lost.length === 0) return `${saved}Nothing is lost.\n`;
  const losses = lost.map((loss) => {
    const { file, offset, reason, dataset } = loss;
    const where = [
      ranged("positions", loss.firstPosition, loss.lastPosition),
      ranged("keys", loss.firstKey, loss.lastKey),
      ranged("commits", loss.firstRevision, loss.lastRevision),
    ].filter((one) => one !== "");
    const what = [...(dataset === undefined ? [] : [dataset]), ...where].join(", ");
    return `${printable(`LOST ${what === "" ? "" : `${what}: `}${file} at byte ${offset}: ${reason}`)}\n`;
  });
  return `${saved}${losses.join("")}`;
}

function ranged(what: string, first: number | string | undefined, last: number | string | undefined): string {
  if (first === undefined && last === undefined) return "";
  return `${what} ${first ?? "…"} to ${last ?? "…"}`;
}
