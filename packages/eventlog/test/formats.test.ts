import { describe, expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";
import { eventsOf, numbered, versionsOf } from "./events.ts";

const later = Buffer.from([2, 0, 1, 0, 120]);
const unknownFlag = Buffer.from([1, 64, 1, 0, 120]);
const cut = Buffer.from([1, 0, 9, 0, 120]);

describe("what is stored", () => {
  test("is as its page draws it", async () => {
    const { log } = await stage();
    const data = { n: 1 };
    await log.append("s", { id: "1", type: "paid", data });
    await log.append("s", [
      { type: "paid", metadata: data },
      { id: "3", type: "paid", data: Uint8Array.from([7]) },
    ]);
    await log.truncateStream("s", 2);
    const payloads: string[] = [];
    for await (const records of log.engine.log("eventlog.events").read("s")) {
      payloads.push(...records.map(({ payload }) => Buffer.from(payload).toString("hex")));
    }
    const type = "040070616964";
    const json = Buffer.from('{"n":1}').toString("hex");
    const id = (await eventsOf(log.readStream("s")))[0]?.id;
    expect(payloads).toEqual([
      `0101${type}${json}`,
      `011c${id}0000000002000000${type}07000000${json}`,
      `01120100000002000000${type}07`,
    ]);
    const facts = await log.engine.map("eventlog.streams").get("s");
    expect(Buffer.from(facts?.payload ?? []).toString("hex")).toBe("0100000000000000400000000000000000");
    await log.close();
  });
});

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

  test("is refused where a map holds it: of a stream, of a consumer", async () => {
    const { host, log } = await stage();
    await log.append("s", numbered(1));
    await log.engine.commit((batch) => {
      batch.put("eventlog.streams", "s", Buffer.from([2]));
      batch.put("eventlog.consumers", "c", Buffer.from([1, 2, 3]));
    });
    await expect(log.consumer("c").committed()).rejects.toMatchObject({ code: "CORRUPT" });
    await log.close();
    // Another open knows nothing of the stream yet.
    const again = await openOn(host);
    await expect(again.streamInfo("s")).rejects.toMatchObject({ code: "UNSUPPORTED_VERSION", data: { format: 2 } });
    await again.close();
  });
});
