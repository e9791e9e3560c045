import type { StoreReport } from "@ehdb/l0";
import { printable } from "./printable.ts";
import { list, size } from "./table.ts";

/** What a verification found, for people. */
export function reportText(report: StoreReport, dir: string): string {
  const { manifests, parts, blocks, segments, commits, bytes, damage } = report;
  const looked = list([
    ["manifests", manifests],
    ["parts", parts],
    ["blocks", blocks],
    ["journal segments", segments],
    ["commits in them", commits],
    ["bytes", size(bytes)],
  ]);
  if (damage.length === 0) return `${looked}All of it is what was written.\n`;
  const places = damage.map(({ file, offset, reason }) => {
    return `${printable(`DAMAGED ${file} at byte ${offset}: ${reason}`)}\n`;
  });
  const what = damage.length === 1 ? "1 place is" : `${damage.length} places are`;
  return `${looked}${places.join("")}${what} damaged. Keep the directory as it is: a backup is put back with
  ehdb restore BACKUP NEW-DIR
and what is whole is copied out of ${dir} with
  ehdb salvage ${dir} NEW-DIR
`;
}
