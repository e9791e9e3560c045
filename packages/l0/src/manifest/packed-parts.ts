import type { PartMeta } from "../meta.ts";

/**
 * Parts as a snapshot holds them: the names of the fields once, then a row of numbers a part, a third of the bytes. What a part
 * has besides, and this release doesn't know, stands as an object at the end of its row.
 */
interface PackedParts {
  readonly fields: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const fields = [
  "id",
  "dataset",
  "level",
  "records",
  "fileBytes",
  "firstSort",
  "lastSort",
  "firstRevision",
  "lastRevision",
  "firstTime",
  "lastTime",
  "ids",
  "erasures",
] as const satisfies (keyof PartMeta)[];
const known: ReadonlySet<string> = new Set(fields);

export function packParts(parts: Iterable<PartMeta>): PackedParts {
  const rows = Array.from(parts, (part) => {
    const row: unknown[] = fields.map((field) => part[field]);
    const others = Object.entries(part).filter(([name]) => !known.has(name));
    if (others.length > 0) row.push(Object.fromEntries(others));
    return row;
  });
  return { fields, rows };
}

/** `undefined` for what isn't of that form. Fields that the names give in another order, or more of, are taken as named. */
export function unpackParts(packed: unknown): PartMeta[] | undefined {
  if (typeof packed !== "object" || packed === null || !("fields" in packed) || !("rows" in packed)) return undefined;
  const { fields: names, rows } = packed;
  if (!Array.isArray(names) || !Array.isArray(rows) || !names.every((name) => typeof name === "string"))
    return undefined;
  const parts: PartMeta[] = [];
  for (const row of rows as unknown[]) {
    if (!Array.isArray(row) || row.length < names.length || row.length > names.length + 1) return undefined;
    const named = Object.fromEntries(names.map((name, place) => [name, row[place] as unknown]));
    const part: unknown = Object.assign(named, row[names.length]);
    parts.push(part as PartMeta);
  }
  return parts;
}
