// Jobs for the tests of workers, in JavaScript because threads run what is built.
import { EhdbError } from "@ehdb/contracts";
import { isMainThread } from "node:worker_threads";

const module = import.meta.url;

/** @type {import("@ehdb/host").Job<number[], number>} */
export const sum = { name: "sum", module, run: (numbers) => numbers.reduce((total, number) => total + number, 0) };

/** @type {import("@ehdb/host").Job<Uint8Array, Uint8Array>} */
export const increment = { name: "increment", module, run: async (bytes) => bytes.map((byte) => byte + 1) };

/** A small piece of Node's shared pool. @type {import("@ehdb/host").Job<string, Uint8Array>} */
export const encode = { name: "encode", module, run: (text) => Buffer.from(text) };

/** @type {import("@ehdb/host").Job<undefined, boolean>} */
export const inThread = { name: "inThread", module, run: () => !isMainThread };

/** @type {import("@ehdb/host").Job<string, never>} */
export const refuse = {
  name: "refuse",
  module,
  run: (stream) => {
    throw new EhdbError("NOT_FOUND", `there is no stream ${stream}`, { stream }, new TypeError("why"));
  },
};

/** @type {import("@ehdb/host").Job<undefined, never>} */
export const fail = {
  name: "fail",
  module,
  run: () => {
    throw Object.assign(new RangeError("incorrect data check"), { code: "Z_DATA_ERROR", errno: -3 });
  },
};

/** @type {import("@ehdb/host").Job<undefined, () => void>} */
export const unclonable = { name: "unclonable", module, run: () => () => {} };

/** @type {import("@ehdb/host").Job<undefined, never>} */
export const never = { name: "never", module, run: () => new Promise(() => {}) };

/** @type {import("@ehdb/host").Job<number, never>} */
export const exit = { name: "exit", module, run: (code) => process.exit(code) };

/** @type {import("@ehdb/host").Job<undefined, never>} */
export const crash = {
  name: "crash",
  module,
  run: () =>
    new Promise(() => {
      setImmediate(() => {
        throw new Error("thrown beside the job");
      });
    }),
};

/** @type {import("@ehdb/host").Job<string, string>} */
export const copyFile = {
  name: "copyFile",
  module,
  usesFiles: true,
  run: async (path, files) => {
    const from = await files.open(path, "read");
    const bytes = Buffer.alloc(await from.size());
    await from.read(bytes, 0);
    await from.close();
    const to = await files.open(`${path}.copy`, "create");
    await to.write(bytes, 0);
    await to.dataSync();
    await to.close();
    return `${path}.copy`;
  },
};
