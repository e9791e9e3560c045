import { KIB } from "@ehdb/contracts";
import { openJournal, salvage } from "@ehdb/journal";
import { simulatedHost } from "@ehdb/host";
import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";

/** A store of five commits to a map, each in a batch of its own. One is damaged, and the journal salvaged without it. */
async function salvaged(damaged: number): ReturnType<typeof openOn> {
  const { host, engine } = await stage();
  for (let n = 1; n <= 5; n++)
    await engine.commit((batch) => batch.put("state", `key ${n}`, Buffer.from(`value ${n}`.repeat(100))));
  await engine.close();
  const segment = (await host.files.list("/store/journal")).find((name) => name.endsWith(".segment"));
  const path = `/store/journal/${segment}`;
  const content = Buffer.from(host.content(path));
  host.flipBit(path, content.indexOf(`value ${damaged}`) + 50, 1);
  await host.files.makeDirectory("/copy");
  const { lost } = await salvage({ dir: "/store/journal", to: "/copy/journal", host });
  expect(lost).toMatchObject([{ first: damaged, last: damaged }]);
  return await openOn(host, { dir: "/copy" });
}

describe("a journal that lacks commits", () => {
  test.each([1, 3, 4])("isn't taken for a whole one: without commit %i", async (damaged) => {
    const data = { lostFrom: damaged, lostTo: damaged };
    await expect(salvaged(damaged)).rejects.toMatchObject({ code: "CORRUPT", data });
  });
});

test("a directory that is a journal's own isn't made a store's", async () => {
  const host = simulatedHost({ seed: 1 });
  const journal = await openJournal({ dir: "/store", host });
  await journal.appendDurable(Buffer.from("mine"));
  await journal.close();
  const names = await host.files.list("/store");
  await expect(openOn(host)).rejects.toMatchObject({ code: "INVALID_OPTION", data: { option: "dir" } });
  expect(await host.files.list("/store")).toEqual(names);
});

describe("a journal and parts that don't belong together", () => {
  async function sealedStore(): ReturnType<typeof stage> {
    const { host, engine } = await stage();
    // More than a segment, so that the journal lets go of its beginning.
    for (let n = 1; n <= 3; n++) await engine.commit((batch) => batch.put("state", "a", Buffer.alloc(700 * KIB, n)));
    await engine.seal();
    await engine.close();
    return { host, engine };
  }

  test("are told when the journal ends before what is in parts", async () => {
    const { host } = await sealedStore();
    await host.files.rename("/store/journal", "/elsewhere");
    const data = { last: 0, sealedThrough: 3 };
    await expect(openOn(host)).rejects.toMatchObject({ code: "CORRUPT", data });
  });

  test("are told when the journal goes on behind what no part has", async () => {
    const { host } = await sealedStore();
    await host.files.makeDirectory("/alone");
    await host.files.rename("/store/journal", "/alone/journal");
    const error: unknown = await openOn(host, { dir: "/alone" }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "CORRUPT", data: { sealedThrough: 0 } });
    expect(String(error)).toContain("an edit of the manifest is lost");
  });
});
