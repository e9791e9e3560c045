import { salvage } from "@ehdb/journal";
import type { SequenceRange } from "@ehdb/journal";
import { Problems } from "../problems.ts";
import type { Scene } from "./scene.ts";

/** Salvages a damaged log, and holds the new one against what was known: all but the damaged sequences, byte for byte. */
export async function expectSalvage(
  scene: Scene,
  name: string,
  directory: string,
  damaged: SequenceRange,
): Promise<void> {
  const { context, checks, source, known } = scene;
  const to = `${directory}-salvaged`;
  const report = await salvage({ dir: directory, to, host: context.host });
  const problems = new Problems();
  const found = new Set<number>();
  const journal = await context.openJournal({ dir: to, host: context.host, verifyOnOpen: "all" });
  try {
    for await (const { sequence, data } of journal.scan({ signal: context.signal })) {
      const number = known.get(sequence);
      if (found.has(sequence)) problems.add(`sequence ${sequence} comes twice`);
      found.add(sequence);
      if (number !== undefined && Buffer.compare(data, source.bytes(number)) === 0) continue;
      problems.add(`sequence ${sequence} isn't what it was before the damage`);
    }
  } finally {
    await journal.close();
  }
  for (const sequence of known.keys()) {
    const lost = sequence >= damaged.first && sequence <= damaged.last;
    if (!lost && !found.has(sequence)) problems.add(`sequence ${sequence} was whole, and isn't there`);
  }
  const lost = report.lost.map(({ first, last, reason }) => `sequences ${first} to ${last} are lost: ${reason}`);
  const message = problems.text ?? (lost.join("; ") || "nothing is said to be lost");
  const value = known.size - found.size;
  checks.step({ name, count: found.size, value, unit: "lost", ok: problems.none && report.lost.length > 0, message });
}
