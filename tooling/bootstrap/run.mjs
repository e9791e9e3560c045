// node tooling/bootstrap/run.mjs VERB [arguments]: what every root script calls. It installs and builds what the verb
// needs, then starts the verb's program with the arguments as they are.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { openly } from "./command.mjs";
import { checkNode, root, say, Stop } from "./environment.mjs";
import { install } from "./install.mjs";

/**
 * @typedef {object} Verb
 * @property {string} [only] the one package whose needs are enough; everything otherwise
 * @property {boolean} builds
 * @property {(args: string[]) => string[][]} programs each run in turn; the first that fails ends it
 */

const node = process.execPath;
const bin = (/** @type {string} */ name) => join(root, "node_modules", ".bin", name);
const script = (/** @type {string} */ file) => [node, "--import", "tsx", file];
const check = (/** @type {string} */ name) => script(`tooling/checks/${name}.ts`);

/** Benches, simulations and kills are TypeScript sources beside the packages; tsx runs them against the built libraries. */
const runner = (/** @type {string} */ verb) => ({
  builds: true,
  programs: (/** @type {string[]} */ args) => [[...script("tooling/runners/src/main.ts"), verb, ...args]],
});

const oxlint = [bin("oxlint"), "--type-aware", "--deny-warnings"];
const directions = [bin("depcruise"), "--config", ".dependency-cruiser.mjs", "packages", "apps", "tooling"];
const typecheck = [bin("tsc"), "-p", "tsconfig.json"];

/** @type {Record<string, Verb>} */
const verbs = {
  selfcheck: {
    only: "@ehdb/selfcheck",
    builds: true,
    programs: (args) => [[node, "apps/selfcheck/dist/main.js", ...args]],
  },
  build: { builds: true, programs: () => [] },
  test: { builds: true, programs: (args) => [[bin("vitest"), "run", ...args]] },
  bench: runner("bench"),
  sim: runner("sim"),
  kill: runner("kill"),
  faults: runner("faults"),
  soak: runner("soak"),
  mutants: runner("mutants"),
  lint: { builds: false, programs: (args) => [[...oxlint, ...args], check("machine")] },
  format: { builds: false, programs: (args) => [[bin("oxfmt"), ...args]] },
  typecheck: { builds: false, programs: (args) => [[...typecheck, ...args]] },
  directions: { builds: false, programs: (args) => [[...directions, ...args]] },
  unused: { builds: false, programs: (args) => [[bin("knip"), "--no-config-hints", ...args]] },
  ehdb: { only: "@ehdb/cli", builds: true, programs: (args) => [[node, "apps/cli/src/ehdb.mjs", ...args]] },
  shape: { builds: true, programs: (args) => [[...check("shape"), ...args]] },
  examples: { builds: true, programs: (args) => [[...check("examples"), ...args]] },
  check: {
    builds: true,
    programs: () => [
      oxlint,
      check("machine"),
      [bin("oxfmt"), "--check"],
      typecheck,
      directions,
      [bin("knip"), "--no-config-hints"],
      check("shape"),
      check("examples"),
    ],
  },
};

/** @param {string[]} args */
async function main([name = "", ...given]) {
  checkNode();
  // npm swallows the -- before a script's arguments; pnpm passes it on.
  const args = given[0] === "--" ? given.slice(1) : given;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (!verb)
    throw new Stop(`node tooling/bootstrap/run.mjs VERB, where VERB is one of ${Object.keys(verbs).join(", ")}.`, 2);
  await install(verb.only);
  if (verb.builds) await build(verb.only);
  mkdirSync(join(root, "artifacts"), { recursive: true });
  for (const [program = "", ...rest] of verb.programs(args)) {
    const code = await openly([program, ...rest]);
    if (code !== 0) return code;
  }
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  say(error.message);
  process.exitCode = error.code;
}
