import { EhdbError } from "@ehdb/contracts";
import type { ErrorCode, ErrorData } from "@ehdb/contracts";

type Said = readonly [inProgram: string, here: (data: ErrorData) => string];

/** What the packages' messages say to who calls them in a program, and what it is on the command line. */
const words: Partial<Record<ErrorCode, readonly Said[]>> = {
  KEY_MISSING: [
    [
      ", which encryption.keys doesn't hold",
      ({ keyId }) => `, which isn't given: add --key ${keyId}=FILE, or set EHDB_KEY_${keyId}`,
    ],
  ],
  NOT_FOUND: [
    [": open one there to make it, or give another directory", () => ": check the path; `ehdb import` makes a store"],
  ],
  INVALID_OPTION: [["of a store make one with engine.backup()", () => "of a store make one with `ehdb backup`"]],
  INVALID_ARGUMENT: [["; this engine was opened with ", () => ". Known are "]],
};

/** The error in the words of the command line; code and data stay. */
export function saidHere(error: EhdbError): EhdbError {
  let { message } = error;
  for (const [inProgram, here] of words[error.code] ?? []) message = message.replace(inProgram, () => here(error.data));
  return message === error.message ? error : new EhdbError(error.code, message, error.data, error);
}
