import { expect, test } from "vitest";
import { explain } from "../install.mjs";
import { closure, packages } from "../workspace.mjs";

test.each([
  ["gyp ERR! stack Error: not found: make", "build-essential"],
  ["npm error code EAI_AGAIN", "could not be reached"],
  ["ERR_PNPM_META_FETCH_FAIL request failed, reason: connect ECONNREFUSED", "could not be reached"],
  ["ERR_PNPM_OUTDATED_LOCKFILE Cannot install with frozen-lockfile", "disagree"],
  ["ENOSPC: no space left on device, write", "disk is full"],
  ["anything else", "is above"],
])("a failed install that says %s is explained", (output, words) => {
  expect(explain(output)).toContain(words);
});

test("selfcheck needs itself, the root and what it runs on, and nothing that has to be compiled", () => {
  const names = closure("@ehdb/selfcheck").map(({ name }) => name);
  const below = ["contracts", "eventlog", "host", "journal", "l0"].map((name) => `@ehdb/${name}`);
  expect(names).toEqual(["ehdb", ...below, "@ehdb/selfcheck"]);
});

test("an unknown package is refused", () => {
  expect(() => closure("@ehdb/none")).toThrow("There is no package @ehdb/none");
});

test("every package builds, tests and benches by scripts of the same name, and names its Node", () => {
  for (const { folder, manifest } of packages().slice(1)) {
    expect(manifest, folder).toMatchObject({
      type: "module",
      license: "Apache-2.0",
      engines: { node: packages()[0]?.manifest.engines?.node },
      scripts: {
        build: "tsc -b",
        test: `vitest run --root ../.. --project ${folder.split("/")[1]}`,
        bench: expect.any(String),
      },
    });
  }
});

test("a package that can be published publishes its sources and what is built from them", () => {
  for (const { folder, manifest } of packages().slice(1)) {
    if (manifest.private === true) continue;
    expect(manifest, folder).toMatchObject({
      files: ["dist", "!dist/.tsbuildinfo", "src"],
      publishConfig: { access: "public" },
      exports: { ".": { "@ehdb/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" } },
    });
  }
});
