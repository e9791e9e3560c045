import { MIB } from "@ehdb/contracts";
import { passGate } from "@ehdb/host";
import type { Files, Job, JobGate } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import { BlockCache } from "../block-cache.ts";
import type { PartMeta } from "../meta.ts";
import type { PartDamage } from "../part/part-damage.ts";
import { PartFile } from "../part/part-file.ts";
import { PartHandles } from "../part/part-handles.ts";
import { verifyPart } from "../part/verify-part.ts";
import { withReadHook } from "./read-hook.ts";
import { openAround } from "./unreadable.ts";
import type { Unreadable } from "./unreadable.ts";

export interface PartToVerify {
  readonly path: string;
  readonly meta: PartMeta;
  readonly encryption: KeyRing | undefined;
}

export interface PartVerified {
  readonly damage: readonly PartDamage[];
  /** 0 when its footer can't be read. */
  readonly blocks: number;
  /** What the disk can't read: in `damage` too, as far as it's of the part. */
  readonly unreadable: readonly Unreadable[];
}

/** Reads a part's file from front to back, whatever is cached of it. */
export async function verifyPartFile(
  files: Pick<Files, "open">,
  { path, meta, encryption }: PartToVerify,
): Promise<PartVerified> {
  const unreadable: Unreadable[] = [];
  const handles = new PartHandles(openAround(files, (found) => unreadable.push(found)));
  const file = new PartFile({ handles, cache: new BlockCache(MIB), encryption }, path, meta);
  const damage: PartDamage[] = [];
  try {
    await verifyPart(file, (found) => damage.push(found));
    const blocks = damage.length > 0 ? 0 : (await file.open()).footer.blocks;
    return { damage, blocks, unreadable };
  } finally {
    await handles.close();
  }
}

/** The same in another thread. */
export const verifyPartJob: Job<PartToVerify & { readonly gate: JobGate }, PartVerified> = {
  name: "verifyPartJob",
  module: import.meta.url,
  usesFiles: true,
  run: ({ gate, ...part }, files) =>
    verifyPartFile(
      withReadHook(files, () => passGate(gate)),
      part,
    ),
};
