import { type EhdbError, isEhdbError } from "@ehdb/contracts";
import { type Workers, realHost } from "@ehdb/host";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect } from "vitest";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtHost, programPath } from "./built.ts";
import { copyFile, crash, encode, exit, fail, increment, inThread, never, refuse, sum, unclonable } from "./jobs.mjs";
import { test } from "./temporary.ts";

const loaders: [string, () => Promise<Workers>][] = [
  ["inline, from sources", () => Promise.resolve(realHost().workers)],
  ["in threads, when built", async () => (await builtHost()).workers],
];

async function errorOf(running: Promise<unknown>): Promise<EhdbError> {
  return running.then(
    () => expect.fail("the job didn't fail"),
    (error: unknown) => error as EhdbError,
  );
}

describe.each(loaders)("workers %s", (where, load) => {
  const threads = where.startsWith("in threads");
  let workers: Workers;
  beforeAll(async () => {
    workers = await load();
  });
  afterEach(() => workers.close());

  test("run jobs where they should", async () => {
    expect(await workers.run(inThread, undefined)).toBe(threads);
  });

  test("run many jobs at once and give each its own output", async () => {
    const sums = Array.from({ length: 50 }, (_, index) => workers.run(sum, [index, 1]));
    expect(await Promise.all(sums)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test("copy the input at once and leave it with its owner", async () => {
    const input = new Uint8Array([1, 2, 3]);
    const running = workers.run(increment, input);
    input.fill(9);
    expect(await running).toEqual(new Uint8Array([2, 3, 4]));
    expect(input).toEqual(new Uint8Array([9, 9, 9]));
  });

  test("give bytes from a shared pool whole, again and again", async () => {
    for (const text of ["one", "two", "three"]) {
      expect(new TextDecoder().decode(await workers.run(encode, text))).toBe(text);
    }
  });

  test("read and write files", async ({ dir }) => {
    const path = join(dir, "a");
    await writeFile(path, "some bytes");
    expect(await readFile(await workers.run(copyFile, path), "utf8")).toBe("some bytes");
    expect(await errorOf(workers.run(copyFile, join(dir, "missing")))).toMatchObject({ code: "ENOENT" });
  });

  test("keep code, data and cause of an error", async () => {
    const error = await errorOf(workers.run(refuse, "s"));
    expect(error).toMatchObject({ code: "NOT_FOUND", kind: "fix-the-call", data: { stream: "s" } });
    expect(error.message).toBe("there is no stream s");
    expect(error.cause).toMatchObject({ name: "TypeError", message: "why" });
  });

  test("keep the facts of errors that aren't EHDB's", async () => {
    const error = await errorOf(workers.run(fail, undefined));
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "RangeError",
      message: "incorrect data check",
      code: "Z_DATA_ERROR",
      errno: -3,
    });
  });

  test("reject input and output that can't be cloned, and go on", async () => {
    const input = [() => {}] as unknown as number[];
    expect(await errorOf(workers.run(sum, input))).toMatchObject({ name: "DataCloneError" });
    expect(await errorOf(workers.run(unclonable, undefined))).toMatchObject({ name: "DataCloneError" });
    expect(await workers.run(sum, [1])).toBe(1);
  });

  test("reject what runs with CLOSED when they are closed, and start anew", async () => {
    const running = [workers.run(never, undefined), workers.run(never, undefined), workers.run(never, undefined)];
    const errors = Promise.all(running.map((job) => errorOf(job)));
    await workers.close();
    for (const error of await errors) expect(error).toMatchObject({ code: "CLOSED", data: { job: "never" } });
    await workers.close();
    expect(await workers.run(sum, [4, 5])).toBe(9);
  });
});

describe("worker threads", () => {
  let workers: Workers;
  beforeAll(async () => {
    workers = (await builtHost()).workers;
  });
  afterEach(() => workers.close());

  test("that die reject their jobs, and others take their place", async () => {
    const error = await errorOf(workers.run(exit, 3));
    expect(isEhdbError(error, "WORKER_FAILED")).toBe(true);
    expect(error.data).toEqual({ job: "exit", exitCode: 3 });
    expect(await workers.run(sum, [1, 1])).toBe(2);
  });

  test("that crash say why", async () => {
    const error = await errorOf(workers.run(crash, undefined));
    expect(error).toMatchObject({ code: "WORKER_FAILED", data: { job: "crash", exitCode: 1 } });
    expect(error.cause).toMatchObject({ message: "thrown beside the job" });
  });

  test("refuse a job that its module doesn't export, and a module that isn't there", async () => {
    const misnamed = { ...sum, name: "difference" };
    expect(await errorOf(workers.run(misnamed, [1]))).toMatchObject({
      code: "INVALID_ARGUMENT",
      data: { name: "difference", module: sum.module },
    });
    const lost = { ...sum, module: new URL("none.mjs", import.meta.url).href };
    expect(await errorOf(workers.run(lost, [1]))).toMatchObject({ code: "ERR_MODULE_NOT_FOUND" });
  });

  test("don't keep the process once they are idle, nor do watchers and timers that nobody waits for", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [programPath("end-by-itself.mjs")]);
    expect(stdout).toBe("6\nawaited\n");
  });
});
