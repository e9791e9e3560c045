import { basename } from "node:path";
import { isEhdbError } from "@ehdb/contracts";
import type { EhdbError } from "@ehdb/contracts";
import type { SequenceRange } from "@ehdb/journal";
import type { Scene } from "./scene.ts";

/** A damaged log must be refused with CORRUPT, and the error must name the file, an offset and the sequences. */
export async function expectRefusal(
  scene: Scene,
  name: string,
  directory: string,
  file: string,
  damaged: SequenceRange,
): Promise<void> {
  const error = await openDamaged(scene, directory);
  const count = damaged.last - damaged.first + 1;
  if (error === undefined) {
    scene.checks.step({
      name,
      count,
      value: "opened",
      ok: false,
      message: `${basename(file)} is damaged, and was taken for whole`,
    });
    return;
  }
  const ok = namesPlace(error, file, damaged);
  const said = `${error.code}: ${error.message.replaceAll(`${directory}/`, "")}`;
  const message = ok
    ? said
    : `it doesn't name ${basename(file)}, an offset and sequences ${damaged.first} to ${damaged.last}: ${said}`;
  scene.checks.step({ name, count, value: error.code, ok, message });
}

/** The CORRUPT that an open throws, or undefined when it throws nothing. */
async function openDamaged({ context }: Scene, directory: string): Promise<EhdbError | undefined> {
  try {
    const journal = await context.openJournal({ dir: directory, host: context.host, verifyOnOpen: "all" });
    await journal.close();
    return undefined;
  } catch (error) {
    if (isEhdbError(error, "CORRUPT")) return error;
    throw error;
  }
}

function namesPlace({ data }: EhdbError, file: string, damaged: SequenceRange): boolean {
  const { first, last, offset } = data;
  const named =
    typeof data["file"] === "string" && basename(data["file"]) === basename(file) && typeof offset === "number";
  return named && first === damaged.first && last === damaged.last;
}
