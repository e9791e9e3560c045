// Runs the programs of the documentation as they are printed, in a project that sees the built packages as a user does;
// compares what they print with the text block behind them; and checks their types.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quietly } from "../bootstrap/command.mjs";
import { root } from "../bootstrap/environment.mjs";
import { packages } from "../bootstrap/workspace.mjs";
import { type Example, examplesIn } from "./fenced-blocks.ts";

/** The programs' project. It stays when something fails, to be looked into. */
const place = join(root, "artifacts", "examples");
const ours = packages().filter(({ folder }) => folder.startsWith("packages/"));
let failed = 0;

function report(what: string, wrong: string): void {
  if (wrong !== "") failed++;
  console.log(`${wrong === "" ? "passed" : "FAILED"}  ${what}`);
  if (wrong !== "") console.log(wrong.replaceAll(/^/gm, "    "));
}

/** README.md, the packages' and applications', and all of docs. */
function documents(): string[] {
  const readmes = packages().map(({ folder }) => join(folder, "README.md"));
  const docs = existsSync(join(root, "docs")) ? readdirSync(join(root, "docs"), { recursive: true }) : [];
  const others = docs.map(String).filter((file) => file.endsWith(".md"));
  return [...readmes, "CONTRIBUTING.md", ...others.map((file) => join("docs", file))].filter((file) =>
    existsSync(join(root, file)),
  );
}

function prepare(): void {
  rmSync(place, { recursive: true, force: true });
  for (const { name, folder } of ours) {
    const link = join(place, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, folder), link);
  }
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    lib: ["ES2023", "ESNext.Disposable"],
    allowJs: true,
    checkJs: true,
    noEmit: true,
    strict: true,
    // Plain JavaScript says no types of parameters, and reads what it caught.
    noImplicitAny: false,
    useUnknownInCatchVariables: false,
    skipLibCheck: true,
    typeRoots: [join(root, "node_modules", "@types")],
    types: ["node"],
  };
  writeFileSync(join(place, "package.json"), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*/*.mjs"] }, null, 2));
}

async function run(document: string, { line, program, output }: Example): Promise<void> {
  // A folder for each: a program's own files land in its working directory.
  const name = `${document.replaceAll(/[/.]/g, "-")}-line-${line}`;
  const folder = join(place, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "example.mjs"), program);
  const result = await quietly([process.execPath, "example.mjs"], { cwd: folder, timeoutMillis: 60_000 });
  let wrong = "";
  if (result.code !== 0) wrong = `${result.output}(exit code ${result.code})`;
  else if (output !== undefined && result.output.trimEnd() !== output.trimEnd())
    wrong = `it printed:\n${result.output}\nthe text says:\n${output}`;
  report(`${document}:${line} runs${output === undefined ? "" : " and prints what it says"}`, wrong);
}

prepare();
let examples = 0;
let fragments = 0;
for (const document of documents()) {
  const found = examplesIn(readFileSync(join(root, document), "utf8"));
  fragments += found.fragments;
  for (const example of found.examples) {
    examples++;
    await run(document, example);
  }
}
if (examples > 0) {
  const { code, output } = await quietly(
    [process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", place],
    { cwd: place },
  );
  report(`their types, all ${examples}`, code === 0 ? "" : output);
}
if (failed === 0) rmSync(place, { recursive: true, force: true });
else console.log(`The programs are in ${place}.`);
console.log(`examples: ${examples} run, ${fragments} fragments not run, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
