import type { Host } from "@ehdb/host";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const entry: URL = new URL("../../dist/index.js", import.meta.url);

/** The built package's host: worker threads and processes of their own run nothing else. */
export async function builtHost(): Promise<Host> {
  if (!existsSync(entry)) throw new Error("packages/host isn't built: run `npx tsc -b packages/host` first");
  const built = (await import(/* @vite-ignore */ entry.href)) as { realHost(): Host };
  return built.realHost();
}

export function programPath(name: string): string {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url));
}
