import { join } from "node:path";
import type { Host } from "@ehdb/host";
import type { StoreDamage } from "./damage.ts";

/** Where a journal lacks what it must have had: at the end of its newest segment. */
export async function journalEnd(host: Host, dir: string): Promise<Pick<StoreDamage, "file" | "offset">> {
  const journal = join(dir, "journal");
  const newest = (await host.files.list(journal))
    .filter((name) => name.endsWith(".segment"))
    .toSorted()
    .at(-1);
  if (newest === undefined) return { file: journal, offset: 0 };
  const file = join(journal, newest);
  return { file, offset: (await host.files.stat(file))?.bytes ?? 0 };
}
