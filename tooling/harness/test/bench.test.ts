import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { alternate, machineFacts, parseReport } from "../src/index.ts";

describe("contenders", () => {
  it("run in turn, every other time in reversed order", async () => {
    const order: string[] = [];
    const contender = (name: string) => ({
      name,
      round: async (index: number) => {
        order.push(name + index);
        return index;
      },
    });
    const figures = await alternate([contender("a"), contender("b")], 3);
    expect(order).toEqual(["a0", "b0", "b1", "a1", "a2", "b2"]);
    expect(figures.get("b")).toEqual([0, 1, 2]);
  });

  it("can't share a name", async () => {
    const same = { name: "a", round: async () => 0 };
    await expect(alternate([same, same], 1)).rejects.toThrow(/same name/);
  });
});

describe("a report", () => {
  const machine = machineFacts(tmpdir());
  const row = {
    name: "journal.replay",
    value: 3,
    unit: "records/s",
    n: 10,
    floorRatio: 0.9,
    peerRatio: { lmdb: 2 },
    control: false,
  };

  it("survives being written and read", () => {
    const report = { machine, size: "tiny", results: [row] };
    expect(parseReport(JSON.stringify(report))).toEqual(report);
  });

  it("without a figure's unit isn't one", () => {
    const { unit: _, ...lacking } = row;
    expect(() => parseReport(JSON.stringify({ machine, results: [row, lacking] }))).toThrow(/result 1/);
  });

  it("isn't any other JSON", () => {
    expect(() => parseReport("[]")).toThrow(/no machine and no results/);
    expect(() => parseReport("null")).toThrow(/no machine and no results/);
  });

  it("names the machine", () => {
    expect(machine.node).toBe(process.version);
    expect(machine.cores).toBeGreaterThan(0);
    expect(machine.kernel).not.toBe("");
    expect(machine.filesystem).not.toBe("");
  });
});
