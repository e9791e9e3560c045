import { type SimulatedHost, simulatedHost } from "@ehdb/host";
import { expect, test } from "vitest";
import { bytesOf, createText, textAt } from "./text.ts";

/** Puts a new text in the place of the old one; resolves when it believes that the text is safe. */
type Store = (host: SimulatedHost, text: string) => Promise<void>;

const PATH = "/store/current";

async function writeTemporary({ files, random }: SimulatedHost, text: string, sync: boolean): Promise<string> {
  const temporary = `/store/${random.id()}`;
  const file = await files.open(temporary, "create");
  await file.write(bytesOf(text), 0);
  if (sync) await file.dataSync();
  await file.close();
  return temporary;
}

const withoutDirectorySync: Store = async (host, text) => {
  await host.files.rename(await writeTemporary(host, text, true), PATH);
};

const withoutSync: Store = async (host, text) => {
  await host.files.rename(await writeTemporary(host, text, false), PATH);
  await host.files.syncDirectory("/store");
};

const withoutAnySync: Store = async (host, text) => {
  const file = await host.files.open(PATH, "write");
  await file.write(bytesOf(text), 0);
  await file.close();
};

const syncAfterRename: Store = async (host, text) => {
  await host.files.rename(await writeTemporary(host, text, false), PATH);
  const file = await host.files.open(PATH, "write");
  await file.dataSync();
  await file.close();
  await host.files.syncDirectory("/store");
};

const inPlace: Store = async (host, text) => {
  const file = await host.files.open(PATH, "write");
  await file.write(bytesOf(text), 0);
  await file.dataSync();
  await file.close();
};

const rightOrder: Store = async (host, text) => {
  await host.files.rename(await writeTemporary(host, text, true), PATH);
  await host.files.syncDirectory("/store");
};

/** Longer than a sector, so that a torn one shows. */
const textOfVersion = (version: number): string => `${version} `.repeat(600);

/** Replaces the text up to ten times, with a power loss at some operation. Whether what was acknowledged is there. */
async function survives(store: Store, seed: number): Promise<boolean> {
  const host = simulatedHost({ seed });
  await host.files.makeDirectory("/store");
  await createText(host, PATH, textOfVersion(0), { content: true, name: true });
  host.crashAfter(1 + host.random.integer(60));
  let acknowledged = 0;
  const working = (async (): Promise<void> => {
    while (acknowledged < 10) {
      await store(host, textOfVersion(acknowledged + 1));
      acknowledged++;
    }
  })();
  await Promise.race([working, host.whenFrozen()]);
  const found = await textAt(host.crash(), PATH);
  return found === textOfVersion(acknowledged) || found === textOfVersion(acknowledged + 1);
}

async function losses(store: Store, seeds: number): Promise<number> {
  let lost = 0;
  for (let seed = 0; seed < seeds; seed++) if (!(await survives(store, seed))) lost++;
  return lost;
}

test.each([
  ["a rename without a sync of the directory", withoutDirectorySync],
  ["a rename without a sync of the file", withoutSync],
  ["no sync at all", withoutAnySync],
  ["a sync of the file after its rename", syncAfterRename],
  ["a write in place, torn", inPlace],
])("%s loses data within 50 seeds", async (_, store) => {
  expect(await losses(store, 50)).toBeGreaterThan(0);
});

test("file sync, rename, directory sync never loses data over 500 seeds", async () => {
  expect(await losses(rightOrder, 500)).toBe(0);
});
