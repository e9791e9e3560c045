import { EhdbError } from "@ehdb/contracts";
import type { MapRecord } from "@ehdb/contracts";

/**
 * Values of the maps: a format byte, then whole numbers as f64, little endian.
 *
 *     streams    := u8 1 | f64 first version | f64 version at the last delete, 0 for none
 *     consumers  := u8 1 | f64 committed position
 *     log        := u8 1 | f64 first position            under the key `reclaimed`
 */
const format = 1;

export function encodeNumbers(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(1 + 8 * numbers.length, format);
  for (const [index, number] of numbers.entries()) bytes.writeDoubleLE(number, 1 + 8 * index);
  return bytes;
}

/** UNSUPPORTED_VERSION for a format that isn't known, CORRUPT for what isn't so many numbers. */
export function decodeNumbers({ key, payload }: MapRecord, map: string, count: number): readonly number[] {
  if (payload[0] !== format) throw unknownFormat(`the value of "${key}" in ${map}`, payload[0]);
  if (payload.length !== 1 + 8 * count) {
    const message = `the value of "${key}" in ${map} is ${payload.length} bytes long, not ${1 + 8 * count}: something else has written to this store`;
    throw new EhdbError("CORRUPT", message, { dataset: map, key });
  }
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  return Array.from({ length: count }, (_, index) => view.getFloat64(1 + 8 * index, true));
}

export function unknownFormat(what: string, found: number | undefined): EhdbError {
  const message = `${what} has format ${found}, and this version of @ehdb/eventlog reads ${format}: open the log with the version that wrote it, or a newer one`;
  return new EhdbError("UNSUPPORTED_VERSION", message, { format: found });
}
