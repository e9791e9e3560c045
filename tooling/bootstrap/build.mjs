// Builds packages: all of them with turbo, which skips what hasn't changed; one and what it runs on with the compiler alone.
import { join } from "node:path";
import { packageManager, quietly } from "./command.mjs";
import { insidePnpm, root, say, Stop } from "./environment.mjs";
import { closure } from "./workspace.mjs";

/** @param {string} [only] a package: builds just it and what it refers to */
export async function build(only) {
  say(only === undefined ? "building…" : `building ${only}…`);
  const { code, output } = await quietly(
    only === undefined ? turbo(["run", "build", "--output-logs=errors-only"]) : compiler(only),
  );
  if (code === 0) return;
  process.stderr.write(output);
  throw new Stop("The build failed; the errors are above.");
}

/**
 * The references in tsconfig.json lead to all that the package needs.
 * @param {string} name
 * @returns {[string, ...string[]]}
 */
function compiler(name) {
  const folder = closure(name).find((each) => each.name === name)?.folder ?? "";
  return [process.execPath, join(root, "node_modules", "typescript", "bin", "tsc"), "-b", join(root, folder)];
}

/**
 * turbo wants pnpm on PATH, and `pnpm exec` puts it there.
 * @param {string[]} args
 * @returns {[string, ...string[]]}
 */
function turbo(args) {
  if (insidePnpm()) return [join(root, "node_modules", ".bin", "turbo"), ...args];
  return packageManager(["exec", "turbo", ...args]);
}
