// What the machine must have, and what child processes are told about it. No dependencies: this runs before any is installed.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A failure whose message is all that the reader needs: no stack is printed. */
export class Stop extends Error {
  /**
   * @param {string} message
   * @param {number} [code] the exit code
   */
  constructor(message, code = 1) {
    super(message);
    this.code = code;
  }
}

/**
 * One short line to stderr; the program's own output keeps stdout for itself.
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * @param {string} version such as 20.19.1
 * @param {string} range a lower bound, such as >=20.19
 */
export function satisfies(version, range) {
  const have = version.split(".").map(Number);
  const want = range.replace(/^>=/, "").split(".").map(Number);
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The root's package.json. @returns {{ packageManager: string, engines: { node: string } }} */
export function rootManifest() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

export function checkNode() {
  const { engines } = rootManifest();
  if (!satisfies(process.versions.node, engines.node)) {
    throw new Stop(`EHDB needs Node ${engines.node}; this is ${process.versions.node} (${process.execPath}).`);
  }
}

/** True inside a script that pnpm runs: pnpm is then on PATH and needs no npx before it. */
export function insidePnpm(environment = process.env) {
  return (environment["npm_config_user_agent"] ?? "").startsWith("pnpm/");
}

/**
 * The environment for children. Native modules compile against the headers that came with this Node, when they are on
 * the machine: without them node-gyp tries to fetch some.
 * @returns {NodeJS.ProcessEnv}
 */
export function childEnvironment() {
  /** @type {NodeJS.ProcessEnv} */
  const environment = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1" };
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  if (existsSync(join(prefix, "include", "node", "node.h"))) environment["npm_config_nodedir"] = prefix;
  // An empty HOME is worse than none: caches would land beside the sources.
  if (environment["HOME"] === "") delete environment["HOME"];
  return environment;
}
