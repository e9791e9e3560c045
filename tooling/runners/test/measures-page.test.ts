import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "../src/repository.ts";
import { loadBenches, tiersWith } from "../src/tiers.ts";

const tiers = tiersWith(repositoryRoot, "bench");

async function registered(): Promise<string[]> {
  const benches = await Promise.all(tiers.map((tier) => loadBenches(repositoryRoot, tier)));
  return benches.flat().flatMap(({ results }) => results);
}

/** Names of rows: a tier, then what is measured. Files of these names end otherwise. */
function namesIn(page: string): string[] {
  const name = new RegExp(`\`((?:${tiers.join("|")})(?:\\.[a-z0-9]+)+)\``, "g");
  return [...page.matchAll(name)].map(([, found]) => String(found));
}

/** Names on the page that nobody measures, and those that are measured and not on the page. */
function differences(page: string, names: readonly string[]): string[] {
  const [there, here] = [new Set(names), new Set(namesIn(page))];
  return [...[...here].filter((name) => !there.has(name)), ...[...there].filter((name) => !here.has(name))];
}

it("the page of measures names every row of the benches, and no other", async () => {
  const page = readFileSync(join(repositoryRoot, "docs/measures.md"), "utf8");
  const names = await registered();
  expect(names.length).toBeGreaterThan(50);
  expect(differences(page, names)).toEqual([]);
  expect(differences(`${page} \`l0.no.such\``, names)).toEqual(["l0.no.such"]);
  expect(differences(page, [...names, "l0.new"])).toEqual(["l0.new"]);
});

it("the files that the page names are there", () => {
  const page = readFileSync(join(repositoryRoot, "docs/measures.md"), "utf8");
  const files = [...page.matchAll(/`((?:packages|apps|tooling)\/[\w/.-]+\.ts)`/g)].map(([, file]) => String(file));
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) expect(() => readFileSync(join(repositoryRoot, file)), file).not.toThrow();
});
