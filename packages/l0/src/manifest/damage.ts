import { EhdbError } from "@ehdb/contracts";

/** CORRUPT, with the file, the offset in it and what to do. */
export function corrupt(file: string, offset: number, reason: string): EhdbError {
  return new EhdbError(
    "CORRUPT",
    `${file} is damaged at byte ${offset}: ${reason}. Nothing was changed. Put the file back from a copy of the store, with all the others of that copy`,
    { file, offset, reason },
  );
}

export function unsupportedVersion(file: string, version: number, supported: number): EhdbError {
  return new EhdbError(
    "UNSUPPORTED_VERSION",
    `${file} has format version ${version}; this release reads version ${supported}. Open it with the release that wrote it`,
    { file, version, supported },
  );
}
