import type { Host } from "@ehdb/host";
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES } from "./format.ts";
import { isAbsent, isDirectory, machineError } from "./machine-error.ts";
import { segmentId, segmentPath } from "./segment.ts";

/**
 * The id of the key that the newest segment is encrypted with, of those whose header is whole; empty when it isn't encrypted, `undefined` when there
 * is no segment. No key is needed, and nothing is locked or written. Errors: UNSUPPORTED_VERSION, IO_ERROR.
 */
export async function newestKeyId({
  dir,
  host,
}: {
  readonly dir: string;
  readonly host: Host;
}): Promise<string | undefined> {
  try {
    const ids = (await host.files.list(dir)).flatMap((name) => segmentId(name) ?? []);
    for (const id of ids.sort((a, b) => b - a)) {
      const keyId = await keyIdIn(host, segmentPath(dir, id));
      if (keyId !== undefined) return keyId;
    }
    return undefined;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw machineError(error, "newestKeyId()", dir);
  }
}

async function keyIdIn(host: Host, path: string): Promise<string | undefined> {
  try {
    const file = await host.files.open(path, "read");
    try {
      const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
      const read = await file.read(bytes, 0);
      return decodeSegmentHeader(bytes.subarray(0, read), path)?.keyId;
    } finally {
      await file.close();
    }
  } catch (error) {
    // Dropped meanwhile, or no segment at all.
    if (isAbsent(error) || isDirectory(error)) return undefined;
    throw error;
  }
}
