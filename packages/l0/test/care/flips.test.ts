import { describe, expect, it, onTestFailed } from "vitest";
import { simulatedHost } from "@ehdb/host";
import { flipBits } from "../../faults/flipped-bits.ts";

describe("a flipped bit", () => {
  it.each(["part", "manifest", "segment"] as const)(
    "of a %s, anywhere, is found and named, and a salvage brings back all that isn't beside it",
    async (kind) => {
      const host = simulatedHost({ seed: 1 });
      const seed = Math.floor(Math.random() * 2 ** 31);
      onTestFailed(() => console.log(`seed=${seed}`));
      expect(await flipBits({ host, directory: "/rot", kind, flips: 6, seed })).toContain("6 of 6 found");
    },
  );
});
