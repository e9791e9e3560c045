import { type Host, realHost } from "@ehdb/host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";

export const host: Host = realHost();

/** A test with a directory of its own, gone afterwards. */
export const test = base.extend<{ dir: string }>({
  // eslint-disable-next-line no-empty-pattern -- Vitest reads the pattern to see which fixtures this one needs: none.
  dir: async ({}, use) => {
    const dir = await mkdtemp(join(tmpdir(), "ehdb-host-"));
    await use(dir);
    await rm(dir, { recursive: true });
  },
});

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
