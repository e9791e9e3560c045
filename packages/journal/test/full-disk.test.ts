import { describe, expect, it } from "vitest";
import { simulatedHost } from "@ehdb/host";
import { bytes, KIB, names, openAt, refusal } from "./drive.ts";

describe("a new journal on a full disk", () => {
  it("is refused with NO_SPACE, leaves at most its lock behind, and opens once there is room", async () => {
    for (const room of [0, 1, 4 * KIB, 8 * KIB]) {
      const host = simulatedHost({ seed: 1 });
      await host.files.makeDirectory("/j");
      host.faults.noSpaceAfterBytes = room;
      for (let tries = 0; tries < 2; tries++) {
        const error = await refusal(() => openAt(host));
        expect(error.code).toBe("NO_SPACE");
        expect(error.message).toMatch(/disk is full.*Free some space/);
        expect((await names(host)).filter((name) => name !== "LOCK")).toEqual([]);
      }
      host.faults.noSpaceAfterBytes = Infinity;
      const journal = await openAt(host);
      expect(journal.state).toBe("open");
      expect(await journal.appendDurable(bytes(10))).toBe(1);
      await journal.close();
    }
  });
});
