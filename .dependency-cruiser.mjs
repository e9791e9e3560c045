// Which way imports go. The table is the architecture: what each package may stand on. Everything else is refused.

const tiers = ["eventlog", "kv", "object", "vector"];
const engine = ["contracts", "host", "journal", "l0"];
const drivers = ["nats", "postgres", "s3", "lancedb"];

/** Packages, bottom up, and the packages that each may import. @type {Record<string, readonly string[]>} */
const mayImport = {
  contracts: [],
  host: ["contracts"],
  journal: ["contracts", "host"],
  l0: ["contracts", "host", "journal"],
  ...Object.fromEntries(tiers.map((name) => [name, engine])),
  replication: engine,
  feed: [...engine, ...tiers],
  projection: [...engine, ...tiers],
  stack: [...engine, ...tiers, "replication", "feed", "projection"],
  ...Object.fromEntries(drivers.map((name) => [name, ["contracts"]])),
  runs: [...engine, ...tiers, "replication", "feed", "projection", "stack"],
};

/** Why, for each package whose reason isn't that of all engines. @type {Record<string, string>} */
const reasons = {
  contracts: "The contracts are the words all packages share, so they stand on nothing.",
  host: "The host is the door to the machine, and knows errors and nothing else of us.",
  ...Object.fromEntries(
    drivers.map((name) => [
      name,
      "A driver speaks the contracts to one other system; with an engine inside it could not be compared to one.",
    ]),
  ),
  runs: "The first application stands on the stack as any other would.",
};

const down = Object.entries(mayImport).map(([name, below]) => ({
  name: `${name}-looks-down`,
  comment:
    reasons[name] ??
    `${name} imports only what lies below it, so that it can be tested and understood without what lies above.`,
  severity: "error",
  from: { path: `^packages/${name}/src/` },
  to: { path: "^(packages|apps|tooling)/", pathNot: `^packages/(${[name, ...below].join("|")})/` },
}));

/** Tests, benches and simulations may also use the harness. */
const downBeside = Object.entries(mayImport).map(([name, below]) => ({
  name: `${name}-tests-look-down`,
  comment: `Tests and benches of ${name} know what it knows, and the harness: what lies above has tests of its own.`,
  severity: "error",
  from: { path: `^packages/${name}/`, pathNot: `^packages/${name}/src/` },
  to: {
    path: "^(packages|apps|tooling)/",
    pathNot: [`^packages/(${[name, ...below].join("|")})/`, "^tooling/harness/"],
  },
}));

export default {
  forbidden: [
    ...down,
    ...downBeside,
    {
      name: "in-the-table",
      comment: "A new package gets a line in this table first: where it stands is decided, not found out.",
      severity: "error",
      from: { path: "^packages/", pathNot: `^packages/(${Object.keys(mayImport).join("|")})/` },
      to: { path: "^(packages|apps|tooling)/", pathNot: "^packages/contracts/" },
    },
    {
      name: "harness-knows-contracts-and-host",
      comment:
        "The harness measures and simulates any package, so it knows none of them; and no package can be in a cycle with it.",
      severity: "error",
      from: { path: "^tooling/harness/" },
      to: { path: "^(packages|apps|tooling)/", pathNot: ["^tooling/harness/", "^packages/(contracts|host)/"] },
    },
    {
      name: "nothing-imports-runners",
      comment: "The runners know every package; whatever imported them would be in a cycle with all.",
      severity: "error",
      from: { pathNot: "^tooling/runners/" },
      to: { path: "^tooling/runners/" },
    },
    {
      name: "nothing-imports-apps",
      comment: "An application is the top: what two of them share belongs in a package.",
      severity: "error",
      from: { path: "^(packages|apps|tooling)/([^/]+)/" },
      to: { path: "^apps/", pathNot: "^$1/$2/" },
    },
    {
      name: "apps-know-packages",
      comment: "An application is shipped, and tooling isn't.",
      severity: "error",
      from: { path: "^apps/[^/]+/src/" },
      to: { path: "^tooling/" },
    },
    {
      name: "through-the-front-door",
      comment:
        "A package is imported by its name and has one index: a path into its files would make all of them public.",
      severity: "error",
      from: { path: "^(packages|apps|tooling)/([^/]+)/" },
      to: {
        path: "^(packages|apps|tooling)/",
        pathNot: ["^$1/$2/", "^tooling/bootstrap/"],
        dependencyTypes: ["local"],
      },
    },
    {
      name: "bootstrap-is-for-checks",
      comment:
        "The bootstrap runs before anything is installed, and is no package; only the checks beside it use its files.",
      severity: "error",
      from: { pathNot: "^tooling/(bootstrap|checks)/" },
      to: { path: "^tooling/bootstrap/" },
    },
    {
      name: "sources-stand-alone",
      comment: "What is published can't need a test, a bench or a development dependency.",
      severity: "error",
      from: { path: "^(packages|apps)/([^/]+)/src/" },
      to: { path: ["^$1/$2/(?!src/|package\\.json$)"] },
    },
    {
      name: "no-development-dependency-in-sources",
      comment: "Whoever installs the package doesn't get its development dependencies.",
      severity: "error",
      from: { path: "^(packages|apps)/[^/]+/src/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "named-in-package-json",
      comment: "A package imports only what its package.json names; anything else is there by luck.",
      severity: "error",
      from: { path: "^(packages|apps|tooling)/[^/]+/src/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "named-in-package-json-or-a-test-tool",
      comment:
        "What tests are written with is the same everywhere and named once, in the root's package.json. The rest is named.",
      severity: "error",
      from: { path: "^(packages|apps|tooling)/[^/]+/(?!src/)" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"], pathNot: "/node_modules/(vitest|fast-check)/" },
    },
    {
      name: "resolves",
      comment: "An import that leads nowhere: not named in package.json, not exported, or misspelled.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-cycle",
      comment:
        "Files in a cycle can only be understood together. An import of types alone doesn't run, and may point back.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
  ],
  options: {
    doNotFollow: { path: "(^|/)node_modules/" },
    exclude: { path: "^(packages|apps|tooling)/[^/]+/(dist|artifacts)/" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@ehdb/source", "import", "node", "default"],
      extensions: [".ts", ".mjs", ".js", ".json"],
    },
  },
};
