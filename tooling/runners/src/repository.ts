import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Node's options for a program in TypeScript that uses the built libraries. */
export const builtOptions: readonly string[] = ["--import", import.meta.resolve("tsx")];
/** The same for one that uses the libraries' sources. */
export const sourceOptions: readonly string[] = ["--conditions=@ehdb/source", ...builtOptions];

/** Calls with an empty directory on the repository's own disk, since a temporary folder may lie in memory; removes it afterwards. */
export async function withScratch<T>(purpose: string, use: (directory: string) => Promise<T>): Promise<T> {
  const artifacts = join(repositoryRoot, "artifacts");
  mkdirSync(artifacts, { recursive: true });
  const directory = mkdtempSync(join(artifacts, `${purpose}-`));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await use(directory);
  } finally {
    process.off("exit", remove);
    remove();
  }
}
