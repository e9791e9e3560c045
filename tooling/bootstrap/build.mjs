// Builds packages with turbo, which skips what hasn't changed.
import { join } from "node:path";
import { openly, packageManager, quietly } from "./command.mjs";
import { insidePnpm, root, say, Stop } from "./environment.mjs";
import { closure } from "./workspace.mjs";

/** @param {string} [only] a package: builds just it and what it runs on */
export async function build(only) {
  say("building…");
  // --only keeps turbo from following development dependencies out of the installed part; the order among the named stays.
  const filters = only === undefined ? [] : ["--only", ...closure(only).slice(1).map((each) => `--filter=${each.name}`)];
  const { code, output } = await quietly(turbo(["run", "build", ...filters, "--output-logs=errors-only"]));
  if (code !== 0) {
    process.stderr.write(output);
    throw new Stop("The build failed; the errors are above.");
  }
}

/**
 * Any turbo command, with the user's terminal.
 * @param {string[]} args
 */
export function runTurbo(args) {
  return openly(turbo(args));
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
