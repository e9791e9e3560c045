// Installs the dependencies, unless nothing changed since the last time.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageManager, quietly } from "./command.mjs";
import { root, say, Stop } from "./environment.mjs";
import { closure, packages } from "./workspace.mjs";

/** @typedef {import("./workspace.mjs").Package} Package */

const stampFile = join(root, "node_modules", ".ehdb-install.json");

/**
 * @param {string} [only] a package: installs just what it needs to build and run, so that nothing has to be compiled
 */
export async function install(only) {
  const wanted = only === undefined ? packages() : closure(only);
  if (isInstalled(wanted, only)) return;
  say(only === undefined ? "installing…" : `installing what ${only} needs…`);
  // A run that is broken off must not leave a stamp that promises more than is there.
  rmSync(stampFile, { force: true });
  const filters = only === undefined ? [] : wanted.map((each) => `--filter=${each.name}`);
  const { code, output } = await quietly(
    packageManager([...filters, "install", "--frozen-lockfile", "--reporter=append-only"]),
  );
  if (code !== 0) {
    process.stderr.write(output);
    throw new Stop(explain(output));
  }
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stampFile, `${JSON.stringify({ digest: digest(), scope: only ?? "all" })}\n`);
}

/**
 * @param {Package[]} wanted
 * @param {string | undefined} only
 */
function isInstalled(wanted, only) {
  if (!existsSync(stampFile)) return false;
  /** @type {{ digest?: string, scope?: string }} */
  let stamp;
  try {
    stamp = JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return false;
  }
  const covers = stamp.scope === "all" || stamp.scope === only;
  return covers && stamp.digest === digest() && wanted.every(hasItsDependencies);
}

/** A stamp outlives a deleted package folder; a look at the links doesn't. @param {Package} each */
function hasItsDependencies({ folder, manifest }) {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  return names.every((name) => existsSync(join(root, folder, "node_modules", name)));
}

/** Of all that an install depends on: the lockfile, the settings, each manifest's dependencies, this Node. */
function digest() {
  const hash = createHash("sha256").update(`${process.version} ${process.platform} ${process.arch}\n`);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) hash.update(readFileSync(join(root, file)));
  for (const { folder, manifest } of packages()) {
    const { name, dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
    hash.update(JSON.stringify([folder, name, dependencies, devDependencies, optionalDependencies, peerDependencies]));
  }
  return hash.digest("hex");
}

/** @param {string} output of a failed install */
export function explain(output) {
  if (/gyp ERR!|not found: make|g\+\+|node-gyp|prebuild-install/.test(output)) {
    return (
      "A native module could not be compiled. It needs a C++ compiler, make and Python 3 " +
      "(Debian: apt-get install build-essential python3), and Node's headers. " +
      "`npm run selfcheck` works without any of them."
    );
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT/.test(output)) {
    return "The package registry could not be reached. Dependencies are fetched once, at the first run.";
  }
  if (/OUTDATED_LOCKFILE|FROZEN_LOCKFILE/.test(output)) {
    return "A package.json and pnpm-lock.yaml disagree. Run the install without --frozen-lockfile and commit the lockfile.";
  }
  if (/ENOSPC/.test(output)) return "The disk is full.";
  return "Installing the dependencies failed; what the package manager said is above.";
}
