import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PlantedWorkspace } from "./planted-workspace.ts";

const repository = join(import.meta.dirname, "../../..");

/** What is written where, and the rule that must refuse it. */
const planted: readonly (readonly [rule: string, file: string, text: string])[] = [
  ["contracts-looks-down", "packages/contracts/src/up.ts", 'import "@ehdb/host";'],
  [
    "host-looks-down",
    "packages/host/src/up.ts",
    'import type { name } from "@ehdb/journal";\nexport type N = typeof name;',
  ],
  ["journal-looks-down", "packages/journal/src/up.ts", 'export { name } from "@ehdb/kv";'],
  ["journal-looks-down", "packages/journal/src/tooling.ts", 'import "@ehdb/harness";'],
  ["kv-looks-down", "packages/kv/src/sibling.ts", 'export const sibling = import("@ehdb/object");'],
  ["nats-looks-down", "packages/nats/src/engine.ts", 'import "@ehdb/journal";'],
  ["journal-tests-look-down", "packages/journal/test/up.test.ts", 'import "@ehdb/kv";'],
  ["in-the-table", "packages/novelty/src/any.ts", 'import "@ehdb/journal";'],
  ["harness-knows-contracts-and-host", "tooling/harness/src/up.ts", 'import "@ehdb/journal";'],
  ["nothing-imports-runners", "apps/shop/src/runners.ts", 'import "@ehdb/runners";'],
  ["nothing-imports-apps", "tooling/runners/src/app.ts", 'import "@ehdb/shop";'],
  ["apps-know-packages", "apps/shop/src/tooling.ts", 'import "@ehdb/harness";'],
  ["through-the-front-door", "packages/journal/src/deep.ts", 'import "../../host/src/inner.ts";'],
  ["through-the-front-door", "packages/journal/test/index.test.ts", 'import "../../host/src/index.ts";'],
  ["bootstrap-is-for-checks", "tooling/runners/src/install.ts", 'import "../../bootstrap/install.mjs";'],
  ["resolves", "packages/journal/src/inner.ts", 'import "@ehdb/host/src/inner.ts";'],
  ["resolves", "packages/kv/src/unnamed.ts", 'import "@ehdb/contracts";'],
  ["sources-stand-alone", "packages/journal/src/tested.ts", 'import "../test/fine.test.ts";'],
  ["named-in-package-json", "packages/journal/src/stray.ts", 'import "stray";'],
  ["named-in-package-json-or-a-test-tool", "packages/journal/test/stray.test.ts", 'import "stray";'],
  ["no-development-dependency-in-sources", "packages/kv/src/development.ts", 'import "stray";'],
  ["no-cycle", "packages/journal/src/about.ts", 'import "./round.ts";'],
];

/** What must stay allowed. */
const fine: readonly (readonly [file: string, text: string])[] = [
  ["packages/journal/src/down.ts", 'import "@ehdb/host";\nimport "@ehdb/contracts";'],
  ["packages/journal/test/fine.test.ts", 'import "@ehdb/harness";\nimport "../src/down.ts";'],
  ["packages/nats/src/words.ts", 'import "@ehdb/contracts";'],
  ["apps/shop/src/stock.ts", 'import "@ehdb/journal";'],
  ["tooling/checks/shape.ts", 'import "../bootstrap/install.mjs";'],
  ["tooling/runners/src/all.ts", 'import "@ehdb/harness";\nimport "@ehdb/journal";'],
];

const workspace = new PlantedWorkspace();
const refused = new Set<string>();

function plant(): void {
  workspace.write("package.json", '{ "name": "planted", "type": "module" }');
  workspace.write("node_modules/stray/package.json", '{ "name": "stray", "main": "index.js" }');
  workspace.write("node_modules/stray/index.js", "");
  workspace.addPackage("packages/contracts", ["packages/host"]);
  workspace.addPackage("packages/host", ["packages/contracts", "packages/journal"]);
  workspace.addPackage("packages/journal", ["packages/contracts", "packages/host", "packages/kv"], ["tooling/harness"]);
  workspace.addPackage("packages/kv", ["packages/journal", "packages/object"]);
  workspace.addPackage("packages/object");
  workspace.addPackage("packages/nats", ["packages/contracts", "packages/journal"]);
  workspace.addPackage("packages/novelty", ["packages/journal"]);
  workspace.addPackage("tooling/harness", ["packages/journal", "packages/host"]);
  workspace.addPackage("tooling/runners", ["packages/journal", "tooling/harness", "apps/shop"]);
  workspace.addPackage("apps/shop", ["packages/journal", "tooling/runners", "tooling/harness"]);
  workspace.write(
    "packages/kv/package.json",
    '{ "name": "@ehdb/kv", "devDependencies": { "stray": "1" }, "exports": "./src/index.ts" }',
  );
  workspace.write("packages/host/src/inner.ts", "export {};");
  workspace.write("tooling/bootstrap/install.mjs", "export {};");
  workspace.write("packages/journal/src/round.ts", 'import "./about.ts";');
  for (const [, file, text] of planted) workspace.write(file, `${text}\n`);
  for (const [file, text] of fine) workspace.write(file, `${text}\n`);
}

function cruise(): Promise<string> {
  const program = join(repository, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const config = join(repository, ".dependency-cruiser.mjs");
  const args = [program, "--config", config, "--output-type", "json", "packages", "apps", "tooling"];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: workspace.root, maxBuffer: 64e6 }, (_error, stdout) => resolve(stdout));
  });
}

beforeAll(async () => {
  plant();
  const report = JSON.parse(await cruise()) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  for (const { from, rule } of report.summary.violations) refused.add(`${rule.name} ${from}`);
});

afterAll(() => workspace[Symbol.dispose]());

test.each(planted)("%s refuses %s", (rule, file) => {
  expect(refused).toContain(`${rule} ${file}`);
});

test.each(fine)("%s is allowed", (file) => {
  expect([...refused].filter((each) => each.endsWith(` ${file}`))).toEqual([]);
});

test("every rule says why", async () => {
  const { default: config } = (await import(join(repository, ".dependency-cruiser.mjs"))) as {
    default: { forbidden: { name: string; comment: string }[] };
  };
  expect(config.forbidden.filter(({ comment }) => !/^.{20,}\.$/.test(comment)).map(({ name }) => name)).toEqual([]);
});
