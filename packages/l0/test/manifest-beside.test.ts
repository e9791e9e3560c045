import type { Files, Host, SimulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { ENTRY_HEADER_BYTES, HEADER_BYTES } from "../src/manifest/format.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import { begunOn, dir, file, machine, seal } from "./manifest/drive.ts";

/** A manifest of so many seals, closed. */
async function sealed(seals: number): Promise<SimulatedHost> {
  const host = machine();
  const manifest = await begunOn(host);
  for (let count = 0; count < seals; count++) await manifest.append(seal(manifest));
  await manifest.close();
  return host;
}

/** Where each entry begins, the snapshot first, and the end of the last. */
function bordersIn(bytes: Buffer): number[] {
  const borders = [HEADER_BYTES];
  for (let at = HEADER_BYTES; at < bytes.length; borders.push(at)) at += ENTRY_HEADER_BYTES + bytes.readUInt32LE(at);
  return borders;
}

interface Door {
  readonly host: Host;
  reads: number;
}

/** A door through which a file's first reads miss some bytes that were written while they were under way. */
function missing(host: SimulatedHost, path: string, misses: readonly (readonly [from: number, to: number])[]): Door {
  const open: Files["open"] = async (opened, mode) => {
    const found = await host.files.open(opened, mode);
    if (opened !== path) return found;
    return {
      path: opened,
      size: () => found.size(),
      close: () => found.close(),
      read: async (into: Uint8Array, position: number) => {
        const read = await found.read(into, position);
        into.fill(0, ...(misses[door.reads++] ?? [0, 0]));
        return read;
      },
    } as typeof found;
  };
  const files = new Proxy(host.files, {
    get(target, name: keyof Files) {
      const value: unknown = name === "open" ? open : target[name];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const { clock, random, workers } = host;
  const door: Door = { host: { files, clock, random, workers }, reads: 0 };
  return door;
}

test("an edit that was written while the manifest was read, and another behind it, is no damage", async () => {
  const host = await sealed(6);
  const { edits } = await readManifest({ host, dir });
  const borders = bordersIn(Buffer.from(host.content(file(1))));
  const missed = (place: number) => [borders.at(place) ?? 0, borders.at(place + 1) ?? 0] as const;
  const door = missing(host, file(1), [missed(-6), missed(-4), missed(-3)]);
  expect((await readManifest({ host: door.host, dir })).edits).toBe(edits);
  expect(door.reads).toBe(4);
  const older = missing(host, file(1), [missed(-3)]);
  expect((await readManifest({ host: older.host, dir, id: 1 })).edits).toBe(edits);
});

test("an edit that is damaged is CORRUPT when it was read twice", async () => {
  const host = await sealed(6);
  const at = bordersIn(Buffer.from(host.content(file(1)))).at(-3) ?? 0;
  host.flipBit(file(1), at + ENTRY_HEADER_BYTES + 3, 1);
  const door = missing(host, file(1), []);
  await expect(readManifest({ host: door.host, dir })).rejects.toMatchObject({ code: "CORRUPT", data: { offset: at } });
  expect(door.reads).toBe(2);
});

test("CURRENT that was read while it was being replaced is read again; what is damaged is CORRUPT", async () => {
  const host = await sealed(1);
  const door = missing(host, "/store/CURRENT", [[4, 12]]);
  expect((await readManifest({ host: door.host, dir })).id).toBe(1);
  expect(door.reads).toBe(2);
  host.flipBit("/store/CURRENT", 5, 1);
  const damaged = missing(host, "/store/CURRENT", []);
  await expect(readManifest({ host: damaged.host, dir })).rejects.toMatchObject({ code: "CORRUPT" });
  expect(damaged.reads).toBe(2);
});
