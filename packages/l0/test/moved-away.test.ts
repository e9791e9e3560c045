// A store's directory is moved away from its writer, and another store takes the place.
import type { SimulatedHost } from "@ehdb/host";
import { isEhdbError, restoreStore } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { describe, expect, it } from "vitest";
import { contents, dir, fill, openOn } from "./care/drive.ts";
import { simulatedHost } from "@ehdb/host";

const small = { sealMaxBytes: 65_536, background: true };

/** A writer that has its store no more: it lies at /old, and what a backup held stands where it was. */
async function forgotten(seed = 1): Promise<{ readonly host: SimulatedHost; readonly writer: DurableEngine }> {
  const host = simulatedHost({ seed });
  const writer = await openOn(host, small);
  await fill(writer, 300);
  await writer.seal();
  await writer.backup("/backup");
  await fill(writer, 350);
  await host.settle();
  await host.files.rename(dir, "/old");
  await restoreStore({ from: "/backup", to: dir, host });
  return { host, writer };
}

/** Every file below, with its number and size. */
async function tree(host: SimulatedHost, at: string): Promise<string[]> {
  const all: string[] = [];
  for (const name of await host.files.list(at)) {
    const path = `${at}/${name}`;
    const stat = await host.files.stat(path);
    if (stat?.kind === "directory") all.push(...(await tree(host, path)));
    else all.push(`${path} ${stat?.inode} ${stat?.bytes} ${stat?.modifiedMillis}`);
  }
  return all;
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isEhdbError(error) ? error.code : String(error);
};

describe("a writer whose store was moved away, and replaced by another", () => {
  it.each<readonly [string, (writer: DurableEngine) => Promise<unknown>]>([
    ["seals by itself", (writer) => fill(writer, 1500)],
    ["seals", (writer) => writer.seal()],
    ["merges", (writer) => writer.merge()],
    ["merges what is pending", (writer) => writer.runPendingMerges()],
    ["scavenges", (writer) => writer.scavenge()],
    ["reclaims orphans", (writer) => writer.reclaimOrphans()],
    ["backs up", (writer) => writer.backup("/another")],
    [
      "closes",
      async (writer) =>
        fill(writer, 1500)
          .catch(() => undefined)
          .then(() => writer.close()),
    ],
  ])("%s: it touches nothing of the other, and doesn't go on", async (_, call) => {
    const { host, writer } = await forgotten();
    const before = await tree(host, dir);
    await call(writer).catch(() => undefined);
    await host.advance(1000);
    // A second later at the latest it's known.
    await codeOf(fill(writer, 1510));
    await host.settle();
    expect(["poisoned", "closed"]).toContain(writer.state);
    expect(await codeOf(writer.commit((batch) => batch.put("state", "k", Buffer.from("x"))))).not.toBe("undefined");
    await writer.close();
    expect(await tree(host, dir)).toEqual(before);
    // What was acknowledged is where it was moved to.
    const old = await openOn(host, { dir: "/old" });
    expect(old.heads.accepted).toBeGreaterThanOrEqual(350);
    await old.close();
    const other = await openOn(host);
    expect(other.heads.accepted).toBe(300);
    expect(await contents(other)).not.toEqual([]);
    await other.close();
  });

  it("loses nothing that it acknowledged before it knew", async () => {
    const { host, writer } = await forgotten(2);
    let acknowledged = writer.heads.accepted;
    for (let upTo = acknowledged + 1; (await codeOf(fill(writer, upTo))) === "undefined"; upTo++) acknowledged = upTo;
    expect(writer.state).toBe("poisoned");
    await writer.close();
    const old = await openOn(host, { dir: "/old" });
    expect(old.heads.accepted).toBeGreaterThanOrEqual(acknowledged);
    await old.close();
  });
});
