import { expect, test } from "vitest";
import { findMachine } from "../machine-rule.ts";

const messages = (text: string): string[] => findMachine("planted.ts", text).map(({ message }) => message);

test.each([
  'import { readFileSync } from "node:fs";',
  'import fs from "fs";',
  // It stays an import in what is built.
  'import { type Stats } from "node:fs";',
  'import * as fs from "node:fs/promises";',
  'import "node:worker_threads";',
  'import { spawn } from "node:child_process";',
  'import { setTimeout as sleep } from "node:timers/promises";',
  'import { performance } from "node:perf_hooks";',
  'import { env } from "node:process";',
  'import { cpus } from "node:os";',
  'import { randomBytes } from "node:crypto";',
  'import { createHash, randomUUID as id } from "node:crypto";',
  'import crypto from "node:crypto";',
  'import * as crypto from "node:crypto";',
  'export { randomBytes } from "node:crypto";',
  'export * from "node:fs";',
  'const fs = await import("node:fs");',
  "const any = await import(name);",
  'const fs = require("node:fs");',
  'const fs = process.getBuiltinModule("fs");',
  "Date.now();",
  'Date["now"]();',
  "const { now } = Date;",
  "new Date();",
  "new Date;",
  "Date();",
  "Math.random();",
  "const roll = Math.random;",
  "performance.now();",
  "process.hrtime.bigint();",
  "process.nextTick(run);",
  "setTimeout(run, 1);",
  "setInterval(run, 1);",
  "setImmediate(run);",
  "function step(process: Process): void {} process.exit();",
  "const timers = { setTimeout };",
  "const later = setTimeout;",
  "globalThis.setTimeout(run, 1);",
  "crypto.randomUUID();",
  "AbortSignal.timeout(5);",
  "Atomics.wait(array, 0, 0);",
  'await fetch("http://localhost");',
])("%s is refused", (text) => {
  expect(messages(text)).toHaveLength(1);
});

test.each([
  'import type { Stats } from "node:fs";',
  'import { createCipheriv, hkdfSync } from "node:crypto";',
  'import { crc32 } from "node:zlib";',
  'import { join } from "node:path";',
  'import { constants } from "node:os";',
  'import { sealBatch } from "./format.ts";',
  'import { EhdbError } from "@ehdb/contracts";',
  "new Date(0);",
  "host.clock.setTimeout(run, 1);",
  "const options = { setTimeout: 1 };",
  "type Later = typeof setTimeout;",
  "interface Clock { setImmediate(call: () => void): void }",
  "class Clock { performance = 1; }",
  "// Date.now() in a comment",
  'const text = "Math.random()";',
  "queueMicrotask(run);",
  "function step(process: Process): void { process.exit(); ({ process }); }",
])("%s is fine", (text) => {
  expect(messages(text)).toEqual([]);
});

test("a finding names its place", () => {
  const [finding] = findMachine("planted.ts", "const a = 1;\n  const b = Date.now();\n");
  expect(finding).toMatchObject({ line: 2, column: 13 });
});

test("an exception covers the named global in that file and no other", () => {
  expect(findMachine("planted.ts", "setImmediate(run);", ["setImmediate"])).toEqual([]);
  expect(findMachine("planted.ts", "setTimeout(run, 1);", ["setImmediate"])).toHaveLength(1);
});
