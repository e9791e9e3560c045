import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { eventsOf, numbered, versionsOf } from "./events.ts";

const later = Buffer.from([2, 0, 1, 0, 120]);
const unknownFlag = Buffer.from([1, 64, 1, 0, 120]);
const cut = Buffer.from([1, 0, 9, 0, 120]);

describe("what another version wrote", () => {
  test.each([
    ["an event of a later format", later, "UNSUPPORTED_VERSION"],
    ["an event with a flag that isn't known", unknownFlag, "UNSUPPORTED_VERSION"],
    ["an event that is cut off", cut, "CORRUPT"],
  ])("is refused by the read that meets it, and the rest is read: %s", async (_, payload, code) => {
    const { log } = await stage();
    await log.append("s", numbered(1));
    await log.engine.commit((batch) => batch.append("eventlog.events", "other", payload));
    await log.append("s", numbered(1));
    await expect(eventsOf(log.scan())).rejects.toMatchObject({ code });
    await expect(eventsOf(log.readStream("other"))).rejects.toMatchObject({ code });
    expect(await versionsOf(log.readStream("s"))).toEqual([1, 2]);
    await log.close();
  });

  test("is refused where a map holds it: of a stream, of a consumer, of the log", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(1));
    await log.engine.commit((batch) => {
      batch.put("eventlog.streams", "s", Buffer.from([2]));
      batch.put("eventlog.consumers", "c", Buffer.from([1, 2, 3]));
      batch.put("eventlog.log", "reclaimed", Buffer.from([3]));
    });
    await expect(log.consumer("c").committed()).rejects.toMatchObject({ code: "CORRUPT" });
    await log.close();
    await expect(openOn(host)).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION", data: { format: 3 } });
    // The engine was let go.
    await expect(openOn(host)).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION" });
  });
});
