// The packages of this repository, read from their manifests.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./environment.mjs";

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {Record<string, string>} [bin]
 * @property {{ node: string }} [engines]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 *
 * @typedef {object} Package
 * @property {string} name
 * @property {string} folder relative to the root, "" for the root itself
 * @property {Manifest} manifest
 */

/** The groups of pnpm-workspace.yaml. */
const groups = ["packages", "apps", "tooling"];

/** Every package, the root first. @returns {Package[]} */
export function packages() {
  const found = [readPackage("")];
  for (const group of groups) {
    if (!existsSync(join(root, group))) continue;
    for (const name of readdirSync(join(root, group)).sort()) {
      const folder = `${group}/${name}`;
      if (existsSync(join(root, folder, "package.json"))) found.push(readPackage(folder));
    }
  }
  return found;
}

/** @param {string} folder @returns {Package} */
function readPackage(folder) {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return { name: manifest.name, folder, manifest };
}

/**
 * The root and what `name` needs to run, without anybody's development dependencies: those may have to be compiled.
 * @param {string} name
 * @returns {Package[]}
 */
export function closure(name) {
  const all = packages();
  const byName = new Map(all.map((each) => [each.name, each]));
  const wanted = new Set(all.slice(0, 1));
  /** @param {Package} each */
  const visit = (each) => {
    if (wanted.has(each)) return;
    wanted.add(each);
    for (const dependency of Object.keys(each.manifest.dependencies ?? {})) {
      const ours = byName.get(dependency);
      if (ours) visit(ours);
    }
  };
  const first = byName.get(name);
  if (!first) throw new Error(`There is no package ${name}`);
  visit(first);
  return all.filter((each) => wanted.has(each));
}
