// Starting other programs: quietly, showing what they said when they failed; or as if the user had typed them.
import { spawn } from "node:child_process";
import { childEnvironment, insidePnpm, root, rootManifest, Stop } from "./environment.mjs";

/**
 * How to call the package manager named in package.json.
 * @param {string[]} args
 * @returns {[string, ...string[]]}
 */
export function packageManager(args) {
  if (insidePnpm()) return ["pnpm", ...args];
  return ["npx", "--yes", rootManifest().packageManager, ...args];
}

/**
 * Runs a program to its end and keeps what it says.
 * @param {[string, ...string[]]} command
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMillis?: number }} [options] a program that takes longer is killed
 * @returns {Promise<{ code: number, output: string }>}
 */
export function quietly([program, ...args], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? root,
      env: options.env ?? childEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.timeoutMillis,
    });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (error) => reject(notStarted(program, error)));
    child.on("close", (code, signal) =>
      resolve({ code: exitCode(code, signal), output: Buffer.concat(chunks).toString("utf8") }),
    );
  });
}

/**
 * Runs a program with the user's terminal. The first Ctrl-C is the child's to handle.
 * @param {[string, ...string[]]} command
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<number>} its exit code
 */
export function openly([program, ...args], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? root,
      env: options.env ?? childEnvironment(),
      stdio: "inherit",
    });
    const leaveToChild = () => {};
    const passOn = () => child.kill("SIGTERM");
    process.on("SIGINT", leaveToChild);
    process.on("SIGTERM", passOn);
    child.on("error", (error) => reject(notStarted(program, error)));
    child.on("close", (code, signal) => {
      process.off("SIGINT", leaveToChild);
      process.off("SIGTERM", passOn);
      resolve(exitCode(code, signal));
    });
  });
}

/**
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function exitCode(code, signal) {
  if (code !== null) return code;
  return signal === "SIGINT" ? 130 : signal === "SIGTERM" ? 143 : 1;
}

/**
 * @param {string} program
 * @param {NodeJS.ErrnoException} error
 */
function notStarted(program, error) {
  if (error.code !== "ENOENT") return error;
  if (program === "npx") return new Stop("npx is not on PATH. It comes with Node; install npm.");
  return new Stop(`${program} is not on PATH.`);
}
