// What a user gets: each publishable package is packed, its tarball inspected, and all of them are installed together in
// an empty project outside this repository, which imports every one, compiles against it and starts its programs.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageManager, quietly } from "../bootstrap/command.mjs";
import { root } from "../bootstrap/environment.mjs";
import { type Package, packages } from "../bootstrap/workspace.mjs";

type Command = [string, ...string[]];

const tool = (name: string): string => join(root, "node_modules", ".bin", name);
const published = packages().filter(({ folder, manifest }) => folder !== "" && manifest.private !== true);
const place = mkdtempSync(join(tmpdir(), "ehdb-shape-"));
const consumer = join(place, "consumer");
const tarballs = new Map<string, string>();
let failed = 0;

/**
 * One claim: prints whether it holds, and why it doesn't.
 * @param wrongWith what is wrong with the output of a command that succeeded, "" for nothing
 */
async function claim(
  what: string,
  command: Command,
  cwd: string = root,
  wrongWith = (_output: string): string => "",
): Promise<void> {
  const { code, output } = await quietly(command, { cwd });
  const wrong = code === 0 ? wrongWith(output) : `${output}(exit code ${code})`;
  if (wrong !== "") failed++;
  console.log(`${wrong === "" ? "passed" : "FAILED"}  ${what}`);
  if (wrong !== "") console.log(wrong.replaceAll(/^/gm, "    "));
}

async function pack({ name, folder }: Package): Promise<void> {
  const destination = join(place, folder.replaceAll("/", "-"));
  mkdirSync(destination);
  await claim(`${name} packs`, packageManager(["pack", "--pack-destination", destination]), join(root, folder));
  const [tarball] = readdirSync(destination);
  if (tarball !== undefined) tarballs.set(name, join(destination, tarball));
}

/** Sources, what is built from them, and the papers: no tests, no build information. */
function untidy(listing: string): string {
  const files = listing.trim().split("\n");
  const papers = ["package/package.json", "package/README.md", "package/LICENSE"];
  const stray = files.filter(
    (file) => !papers.includes(file) && !/^package\/(src|dist)\/[^.][^]*\.(ts|m?js|map)$/.test(file),
  );
  const missing = papers.filter((paper) => !files.includes(paper));
  return [...missing.map((paper) => `missing: ${paper}`), ...stray.map((file) => `stray: ${file}`)].join("\n");
}

async function inspect(name: string, tarball: string): Promise<void> {
  await claim(
    `${name} holds its sources, what is built from them, README.md and LICENSE`,
    ["tar", "-tzf", tarball],
    place,
    untidy,
  );
  await claim(`${name} pleases publint`, [tool("publint"), "run", tarball, "--strict"], place);
  await claim(`${name} has types that resolve`, [tool("attw"), tarball, "--profile", "esm-only", "--no-color"], place);
}

function writeConsumer(): void {
  mkdirSync(consumer);
  const locations = Object.fromEntries([...tarballs].map(([name, tarball]) => [name, `file:${tarball}`]));
  const imports = [...tarballs.keys()].map((name, i) => `import * as m${i} from "${name}";`);
  const names = [...tarballs.keys()].map((_, i) => `m${i}`);
  const options = {
    target: "ES2023",
    module: "NodeNext",
    lib: ["ES2023", "ESNext.Disposable"],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    typeRoots: [join(root, "node_modules", "@types")],
    types: ["node"],
  };
  const write = (file: string, content: unknown): void =>
    writeFileSync(
      join(consumer, file),
      typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`,
    );
  write("package.json", { name: "consumer", private: true, type: "module", dependencies: locations });
  // Its own versions aren't in a registry: what they need of each other is taken from here too.
  write("pnpm-workspace.yaml", `packages: []\noverrides: ${JSON.stringify(locations)}\nstrictDepBuilds: false\n`);
  write("tsconfig.json", { compilerOptions: options, files: ["index.ts"] });
  write("index.ts", `${imports.join("\n")}\nexport const all: readonly object[] = [${names.join(", ")}];\n`);
}

async function use(): Promise<void> {
  writeConsumer();
  await claim(
    "an empty project installs them together",
    packageManager(["install", "--prefer-offline", "--ignore-scripts"]),
    consumer,
  );
  for (const name of tarballs.keys()) {
    await claim(
      `the project imports ${name}`,
      [process.execPath, "--input-type=module", "--eval", `await import("${name}")`],
      consumer,
    );
    await claim(
      `${name} exports something`,
      ["cat", join(consumer, "node_modules", name, "dist/index.d.ts")],
      consumer,
      (types) => (/^export (?!\{\s*\};)/m.test(types) ? "" : `its types are: ${types}`),
    );
  }
  await claim("the project compiles against their types", [tool("tsc"), "-p", "."], consumer);
  for (const { manifest } of published) {
    for (const bin of Object.keys(manifest.bin ?? {})) {
      await claim(`the project starts ${bin}`, [join(consumer, "node_modules", ".bin", bin), "--help"], consumer);
    }
  }
}

try {
  for (const each of published) await pack(each);
  for (const [name, tarball] of tarballs) await inspect(name, tarball);
  await use();
} finally {
  rmSync(place, { recursive: true, force: true });
}
console.log(`shape: ${published.length} packages, ${failed} claims failed`);
process.exitCode = failed > 0 ? 1 : 0;
