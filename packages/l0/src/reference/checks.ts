import { EhdbError, isAbortSignal, MAX_NAME_BYTES } from "@ehdb/contracts";
import type { DatasetOrder, DatasetSpec, ErrorData, LogReadOptions, MapScanOptions } from "@ehdb/contracts";

/** What a caller gave is checked here, and nowhere else. */
export function invalid(message: string, data: ErrorData = {}): EhdbError {
  return new EhdbError("INVALID_ARGUMENT", message, data);
}

export function checkDatasets(datasets: readonly DatasetSpec[]): void {
  const names = new Set<string>();
  for (const { name, order } of datasets) {
    if (!/^[-a-z0-9_.]{1,64}$/.test(name)) {
      throw invalidOption(
        `a dataset's name is 1 to 64 characters of a-z, 0-9, "-", "_", ".", not ${JSON.stringify(name)}`,
      );
    }
    if (order !== "by-sort" && order !== "by-key") {
      throw invalidOption(`the order of dataset "${name}" is by-sort or by-key, not ${String(order)}`);
    }
    if (names.has(name)) throw invalidOption(`dataset "${name}" is given twice: give each once`);
    names.add(name);
  }
}

export function checkDataset(datasets: readonly DatasetSpec[], name: string, order?: DatasetOrder): DatasetOrder {
  const found = datasets.find((dataset) => dataset.name === name);
  if (found === undefined)
    throw invalid(
      `there is no dataset ${typeof name === "string" ? name : `of type ${typeof name}`}: declare it at the open`,
    );
  if (order !== undefined && found.order !== order) {
    throw invalid(`dataset "${name}" is ${found.order}, and the call is for one ${order}`, { dataset: name });
  }
  return found.order;
}

/** A key or an id. */
export function checkName(what: string, name: unknown): void {
  checkText(what, name);
  if (name === "") throw invalid(`${what} is empty: give at least one byte`);
  const bytes = Buffer.byteLength(name);
  if (bytes > MAX_NAME_BYTES) {
    const message = `${what} has ${bytes} bytes, ${MAX_NAME_BYTES} at most: shorten it`;
    throw new EhdbError("TOO_LARGE", message, { bytes, maxBytes: MAX_NAME_BYTES });
  }
}

function checkText(what: string, text: unknown): asserts text is string {
  if (typeof text !== "string") throw invalid(`${what} is a ${typeof text}: give a string`);
  if (Buffer.from(text).toString() !== text) throw invalid(`${what} has a lone surrogate: give well-formed Unicode`);
}

export function checkWhole(what: string, value: unknown, least: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw invalid(`${what} is ${String(value)}: give a whole number from ${least}`);
  }
}

export function checkOptions(options: object, known: readonly string[]): void {
  if (Object(options) !== options || Array.isArray(options)) {
    throw invalidOption(`options are a ${typeof options}: give an object with ${known.join(", ")}`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalidOption(`there is no option "${unknown}": there are ${known.join(", ")}`);
}

export function checkLogOptions(options: LogReadOptions): void {
  checkOptions(options, ["direction", "from", "limit", "signal"] satisfies (keyof LogReadOptions)[]);
  const { direction, from, limit, signal } = options;
  if (direction !== undefined && direction !== "forwards" && direction !== "backwards") {
    throw invalid(`direction is ${String(direction)}: give forwards or backwards`);
  }
  if (from !== undefined) checkWhole("from", from, 0);
  if (limit !== undefined) checkWhole("limit", limit, 0);
  checkSignal(signal);
}

export function checkMapOptions(options: MapScanOptions): void {
  checkOptions(options, ["prefix", "from", "before", "limit", "signal"] satisfies (keyof MapScanOptions)[]);
  const { prefix, from, before, limit, signal } = options;
  for (const [what, text] of Object.entries({ prefix, from, before })) if (text !== undefined) checkText(what, text);
  if (limit !== undefined) checkWhole("limit", limit, 0);
  checkSignal(signal);
}

export function checkSignal(signal: unknown): void {
  if (signal !== undefined && !isAbortSignal(signal))
    throw invalid(`signal is a ${typeof signal}: give an AbortSignal`);
}

function invalidOption(message: string): EhdbError {
  return new EhdbError("INVALID_OPTION", message);
}
