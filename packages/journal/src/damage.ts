import { EhdbError } from "@ehdb/contracts";
import type { Damage } from "./api.ts";

/** CORRUPT, with the place and what to do. */
export function corrupt(damage: Damage): EhdbError {
  const range = damage.first <= damage.last ? `sequences ${damage.first} to ${damage.last}` : "no record";
  return new EhdbError(
    "CORRUPT",
    `${damage.file} is damaged at byte ${damage.offset} (${range}): ${damage.reason}. Nothing was changed; salvage() copies what is whole into a new journal`,
    { ...damage },
  );
}
