// A small repository with this one's layout in a temporary folder, to plant what a check must refuse.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export class PlantedWorkspace implements Disposable {
  readonly root: string = realpathSync(mkdtempSync(join(tmpdir(), "ehdb-planted-")));

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.root, file)), { recursive: true });
    writeFileSync(join(this.root, file), text);
  }

  /** @param folder such as packages/kv; its name is @ehdb/kv, and it can import the packages that are named */
  addPackage(folder: string, dependencies: readonly string[] = [], devDependencies: readonly string[] = []): void {
    const named = (folders: readonly string[]): Record<string, string> =>
      Object.fromEntries(folders.map((each) => [nameOf(each), "workspace:^"]));
    const manifest = {
      name: nameOf(folder),
      type: "module",
      exports: { ".": { "@ehdb/source": "./src/index.ts" } },
      dependencies: named(dependencies),
      devDependencies: named(devDependencies),
    };
    this.write(`${folder}/package.json`, JSON.stringify(manifest));
    this.write(`${folder}/src/index.ts`, `export const name: string = "${nameOf(folder)}";\n`);
    for (const each of [...dependencies, ...devDependencies]) {
      const link = join(this.root, folder, "node_modules", nameOf(each));
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(this.root, each), link);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function nameOf(folder: string): string {
  return `@ehdb/${folder.split("/")[1] ?? ""}`;
}
