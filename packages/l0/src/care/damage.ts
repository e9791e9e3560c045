import type { EhdbError } from "@ehdb/contracts";

/** A place of a store that isn't what was written there. */
export interface StoreDamage {
  readonly kind: "manifest" | "part" | "journal";
  readonly file: string;
  /** Where in the file: of the block, the entry or the batch that is damaged. */
  readonly offset: number;
  readonly reason: string;
  /** Of a part: its dataset's name. */
  readonly dataset?: string;
  /** Of the journal: the commits concerned, as far as they are known. */
  readonly firstRevision?: number;
  readonly lastRevision?: number;
}

/** What a CORRUPT says. */
export function damageOf(kind: StoreDamage["kind"], { data, message }: EhdbError, where: string): StoreDamage {
  const { file = where, offset = 0, reason = message } = data;
  return { kind, file: String(file), offset: Number(offset), reason: String(reason) };
}
