import { describe, expect, it } from "vitest";
import {
  acknowledged,
  broken,
  dropped,
  dropping,
  KillLedger,
  killLine,
  opened,
  opening,
  parseKillLine,
  settled,
  settling,
} from "../src/index.ts";
import type { KillLine, Survivor } from "../src/index.ts";

async function* there(...survivors: Partial<Survivor>[]): AsyncGenerator<Survivor> {
  for (const [index, survivor] of survivors.entries())
    yield { position: index + 1, id: `1.0:${index + 1}`, intact: true, ...survivor };
}

async function checked(lines: readonly KillLine[], survivors: AsyncIterable<Survivor>): Promise<KillLedger> {
  const ledger = new KillLedger();
  for (const line of lines) ledger.hear(line);
  await ledger.check(survivors);
  return ledger;
}

describe("the kill protocol", () => {
  it("says each line so that it can be read again", () => {
    const lines = [opening, opened, acknowledged("3.1:17", 99), dropping(5), dropped(5), settling(7), settled(7)];
    for (const line of [...lines, broken("two members have one message")]) {
      expect(parseKillLine(killLine(line).trimEnd())).toEqual(line);
    }
  });

  it("knows no other lines", () => {
    expect(() => parseKillLine("hello")).toThrow(/no line of the protocol/);
    expect(() => parseKillLine("acknowledged x 1.0:1")).toThrow(/no line of the protocol/);
  });
});

describe("the ledger of kills", () => {
  const both = [acknowledged("1.0:1", 1), acknowledged("1.0:2", 2)];

  it("is content with all that was acknowledged, and with more", async () => {
    const ledger = await checked(both, there({}, {}, {}));
    expect(ledger).toMatchObject({
      acknowledged: 2,
      lost: 0,
      doubled: 0,
      disordered: 0,
      damaged: 0,
      unacknowledged: 1,
      problems: [],
    });
  });

  it("misses what is lost, once", async () => {
    const ledger = await checked(both, there({}));
    expect(ledger.lost).toBe(1);
    expect(ledger.problems).toEqual(["1.0:2 was acknowledged at 2 and is missing"]);
    await ledger.check(there({}));
    expect(ledger.lost).toBe(1);
  });

  it("counts a record that is there twice", async () => {
    expect(await checked(both, there({}, {}, { id: "1.0:2" }))).toMatchObject({ lost: 0, doubled: 1 });
  });

  it("counts a hole in a writer's order, and a swap", async () => {
    expect(await checked([], there({}, { id: "1.0:3" }))).toMatchObject({ disordered: 1 });
    const swapped = await checked(both, there({ id: "1.0:2" }, { id: "1.0:1" }));
    expect(swapped.lost).toBe(2);
    expect(swapped.doubled).toBe(1);
  });

  it("counts positions that go back", async () => {
    expect(await checked([], there({ position: 2 }, { position: 1 }))).toMatchObject({ disordered: 1 });
  });

  it("counts a content that differs", async () => {
    expect(await checked(both, there({}, { intact: false }))).toMatchObject({ lost: 0, damaged: 1 });
  });

  it("lets go what was to be dropped, and nothing else", async () => {
    const last = there({ position: 2, id: "1.0:2" });
    expect(await checked([...both, dropping(2)], last)).toMatchObject({ lost: 0 });
    expect(await checked([...both, dropping(2)], there())).toMatchObject({ lost: 1 });
  });

  it("counts what is there again after it was dropped", async () => {
    expect(await checked([...both, dropping(2), dropped(2)], there({}, {}))).toMatchObject({ revived: 1, drops: 1 });
  });

  it("counts what was settled and comes again, and what nobody settled", async () => {
    const lines = [...both, settling(1), settled(1), settling(2)];
    expect(await checked(lines, there({ isDone: true }, { isDone: false }))).toMatchObject({ lost: 0, doubled: 0 });
    expect(await checked(lines, there({ isDone: true }, { isDone: true }))).toMatchObject({ lost: 0, doubled: 0 });
    expect(await checked(lines, there({ isDone: false }, {}))).toMatchObject({ lost: 0, doubled: 1 });
    expect(await checked(both, there({}, { isDone: true }))).toMatchObject({ lost: 1, doubled: 0 });
  });

  it("counts what the program itself saw broken", async () => {
    expect(await checked([broken("a late ack was taken")], there())).toMatchObject({
      damaged: 1,
      problems: ["a late ack was taken"],
    });
  });
});
