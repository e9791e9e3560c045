// One run for the whole repository: a project for each folder with a test/ beside its sources, named after the folder.
// `npx vitest run --project journal` runs one of them. Packages resolve to their sources, so only tests that start
// a process or a worker thread need a build.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const root = dirname(fileURLToPath(import.meta.url));
const conditions = ["@ehdb/source", "module", "node", "development|production"];

function hasTests(folder: string): boolean {
  return (
    existsSync(folder) && readdirSync(folder, { recursive: true }).some((file) => /\.test\.m?[jt]s$/.test(String(file)))
  );
}

function projects(): TestProjectInlineConfiguration[] {
  return ["packages", "tooling", "apps"].flatMap((group) =>
    readdirSync(join(root, group))
      .filter((name) => hasTests(join(root, group, name, "test")))
      .map((name) => ({
        extends: true,
        root: join(root, group, name),
        test: { name, include: ["test/**/*.test.{ts,mjs}"] },
      })),
  );
}

// Beside whoever started it: the root's report, or the one package's whose test script runs.
const report = join(process.cwd(), "artifacts", "tests.json");

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["@ehdb/source", "node"] } },
  test: {
    environment: "node",
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    exclude: ["**/node_modules/**", "**/dist/**", "**/artifacts/**"],
    reporters: ["default", ["json", { outputFile: report }]],
    projects: projects(),
  },
});
