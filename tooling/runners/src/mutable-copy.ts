import type { Mutant } from "@ehdb/harness";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./usage-error.ts";

/** A copy of one package's sources and simulation, in a place of its own; everything they stand on is the repository's. */
export class MutableCopy {
  readonly root: string;
  readonly tier: string;
  readonly #package: string;

  constructor(repository: string, tier: string, root: string) {
    this.root = root;
    this.tier = tier;
    this.#package = join(root, "packages", tier);
    const original = join(repository, "packages", tier);
    mkdirSync(this.#package, { recursive: true });
    for (const name of ["src", "simulation", "package.json"]) {
      cpSync(join(original, name), join(this.#package, name), { recursive: true });
    }
    for (const name of ["node_modules", "tsconfig.base.json"]) {
      if (existsSync(join(repository, name))) symlinkSync(join(repository, name), join(root, name));
    }
    symlinkSync(join(original, "node_modules"), join(this.#package, "node_modules"));
  }

  /** Writes the defect into the copy; the function that comes back takes it out again. */
  plant({ name, file, find, replace }: Mutant): () => void {
    const path = join(this.#package, "src", file);
    if (!existsSync(path))
      throw new UsageError(`planted defect "${name}": there is no file ${file} in the sources of ${this.tier}`);
    const source = readFileSync(path, "utf8");
    const places = source.split(find).length - 1;
    if (places !== 1)
      throw new UsageError(`planted defect "${name}": its text stands ${places} times in ${file}, not once`);
    writeFileSync(
      path,
      source.replace(find, () => replace),
    );
    return () => writeFileSync(path, source);
  }
}
