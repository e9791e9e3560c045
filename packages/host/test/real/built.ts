import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const entry: URL = new URL("../../dist/index.js", import.meta.url);

/** The built package: worker threads and processes of their own run nothing else. */
export async function builtHost(): Promise<typeof import("@ehdb/host")> {
  if (!existsSync(entry)) throw new Error("packages/host isn't built: run `npx tsc -b packages/host` first");
  return (await import(/* @vite-ignore */ entry.href)) as typeof import("@ehdb/host");
}

export function programPath(name: string): string {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url));
}
