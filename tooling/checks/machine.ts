// Refuses the machine in the packages: only the real host touches it. Prints each place, and fails if there is one.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { findMachine } from "./machine-rule.ts";

/** Folders that are the machine. */
const machine = ["packages/host/src/real/"];

/** Globals that a single file needs, and why. */
const allowed: Readonly<Record<string, { readonly globals: readonly string[]; readonly why: string }>> = {
  "packages/host/src/simulated/pump.ts": {
    globals: ["setImmediate"],
    why: "a simulated turn ends when everything real has run: promises leave no other trace",
  },
};

/** The sources of all packages, relative to `root`. */
function sources(root: string): string[] {
  const folder = join(root, "packages");
  return readdirSync(folder)
    .flatMap((name) => filesIn(join(folder, name, "src")))
    .map((file) => relative(root, file))
    .filter((file) => !machine.some((prefix) => file.startsWith(prefix)))
    .sort();
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const root = process.argv[2] ?? dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const files = sources(root);
let found = 0;
for (const file of files) {
  for (const { line, column, message } of findMachine(
    file,
    readFileSync(join(root, file), "utf8"),
    allowed[file]?.globals,
  )) {
    found++;
    console.error(`${file}:${line}:${column}  ${message}`);
  }
}
for (const file of Object.keys(allowed)) {
  if (files.includes(file)) continue;
  found++;
  console.error(`${file} has an exception in tooling/checks/machine.ts, but there is no such file.`);
}
console.log(`machine: ${files.length} files, ${found} refused`);
process.exitCode = found > 0 ? 1 : 0;
