import { describedOption } from "@ehdb/contracts";
import type { EhdbError } from "@ehdb/contracts";
import type { Host } from "@ehdb/host";
import { isNoDirectory } from "./machine-error.ts";

/** Whether there is a directory at `path`. INVALID_OPTION, by the option's name, when something else is there or on the way. */
export async function directoryExists(host: Host, path: string, option: string): Promise<boolean> {
  try {
    const found = await host.files.stat(path);
    if (found !== undefined && found.kind !== "directory") throw notDirectory(path, option);
    return found !== undefined;
  } catch (error) {
    throw isNoDirectory(error) ? notDirectory(path, option) : error;
  }
}

/** Makes it where it is missing. */
export async function makeDirectory(host: Host, path: string, option: string): Promise<void> {
  try {
    await host.files.makeDirectory(path);
  } catch (error) {
    throw isNoDirectory(error) ? notDirectory(path, option) : error;
  }
}

function notDirectory(path: string, option: string): EhdbError {
  return describedOption(
    option,
    `${path}, which is a file or lies below one`,
    "a directory, or a path where one can be made",
  );
}
