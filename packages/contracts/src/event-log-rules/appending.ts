import { claim, holds, refused, same } from "./claim.ts";
import { all, fill, numbered, range, read, scanned } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

export const appendingRules: readonly EventLogRule[] = [
  claim("an empty log ends at 0, and its first position is 1", async (log) => {
    same("position and first position", [log.position, log.firstPosition], [0, 1]);
    holds(log.epoch >= 1, `the epoch is ${log.epoch}`);
    same("what a scan gives", await scanned(log), []);
  }),

  claim("versions count within a stream, positions over all streams, both from 1", async (log) => {
    await fill(log, "a", "b", "a", "a", "b");
    const events = await all(log.scan());
    const places = events.map(({ position, stream, version }) => `${position} ${stream}@${version}`);
    same("places", places, ["1 a@1", "2 b@1", "3 a@2", "4 a@3", "5 b@2"]);
  }),

  claim("the result of an append says its first and last version and position, and its time", async (log) => {
    await fill(log, "a", "b");
    const result = await log.append("b", numbered(3));
    const { time, ...places } = result;
    const expected = { firstVersion: 2, version: 4, firstPosition: 3, position: 5, isDuplicate: false };
    same("places", places, expected);
    const events = await all(log.readStream("b", { from: 2 }));
    same("times", [...new Set(events.map((event) => event.time))], [time]);
    same("the log's position", log.position, 5);
  }),

  claim("what was appended is read back: id, type, data, metadata", async (log) => {
    const data = { text: "näive 🦉", list: [1, null, { deep: true }], "": "" };
    const metadata = { actor: "alice", causation: { id: "c" } };
    await log.append("s", { id: "an id", type: "placed", data, metadata }, { expect: "none" });
    const [event] = await all(log.readStream("s"));
    same("event", [event?.id, event?.type, event?.stream], ["an id", "placed", "s"]);
    same("data and metadata", [event?.data, event?.metadata], [data, metadata]);
    holds(event?.data === event?.data, "data is decoded each time that it is asked for");
    const json = JSON.parse(JSON.stringify(event)) as { data: unknown };
    same("data of the event as JSON", json.data, data);
  }),

  claim("an event without an id gets one of its own", async (log) => {
    await log.append("a", numbered(3));
    await log.append("b", numbered(3));
    const ids = (await all(log.scan())).map((event) => event.id);
    holds(
      ids.every((id) => typeof id === "string" && id.length > 0) && new Set(ids).size === 6,
      `ids are ${ids.join()}`,
    );
  }),

  claim("data is what JSON makes of it", async (log) => {
    const data = {
      date: new Date(0),
      gone: undefined,
      call: () => 1,
      list: [undefined, () => 1, Number.NaN],
      minus: -0,
      own: { toJSON: () => "own" },
    };
    await log.append("s", { type: "placed", data });
    const [event] = await all(log.scan());
    const expected = { date: "1970-01-01T00:00:00.000Z", list: [null, null, null], minus: 0, own: "own" };
    same("data", event?.data, expected);
  }),

  claim("data may be bytes, any JSON value, or nothing, and each comes back as what it was", async (log) => {
    const values = [Uint8Array.from([0, 255, 128]), new Uint8Array(), null, false, 0, "", "text", [], {}, undefined];
    await log.append(
      "s",
      values.map((data) => ({ type: "placed", data })),
    );
    const events = await all(log.scan());
    for (const [index, value] of values.entries()) same(`value ${index}`, events[index]?.data, value);
    same("metadata", events[0]?.metadata, undefined);
    holds(events[9] !== undefined && "data" in events[9], "an event without data has no `data`");
  }),

  claim("what the caller changes after the call isn't stored, and what a reader changes neither", async (log) => {
    const bytes = Uint8Array.from([1, 2, 3]);
    const data = { list: [1] };
    const events = [
      { type: "placed", data: bytes },
      { type: "placed", data },
    ];
    const appending = log.append("s", events);
    bytes.fill(9);
    data.list.push(2);
    events.pop();
    await appending;
    for (const event of await all(log.scan())) {
      if (event.data instanceof Uint8Array) event.data.fill(8);
      else (event.data as typeof data).list.push(3);
    }
    const stored = (await all(log.scan())).map((event) => event.data);
    same("data", stored, [Uint8Array.from([1, 2, 3]), { list: [1] }]);
  }),

  claim("appends take effect in the order of their calls, whatever their sizes and streams", async (log) => {
    const sizes = [1, 40_000, 2, 0, 200_000, 3, 1, 1, 90_000, 5];
    const appends = sizes.map((size, index) =>
      log.append(`s${index % 3}`, { type: "placed", data: { index, text: "x".repeat(size) } }),
    );
    const results = await Promise.all(appends);
    same(
      "positions",
      results.map((result) => result.position),
      range(1, sizes.length),
    );
    const order = (await all(log.scan())).map((event) => (event.data as { index: number }).index);
    same("order", order, range(0, sizes.length - 1));
  }),

  claim("an append that was resolved is read at once", async (log) => {
    for (let n = 1; n <= 20; n++) {
      await log.append("s", { type: "counted", data: { n } });
      same("versions", await read(log, "s"), range(1, n));
    }
  }),

  claim("times never fall, and follow the log's clock", async (log, { advance }) => {
    const first = await log.append("a", numbered(2));
    await advance(1500);
    const second = await log.append("b", numbered(1));
    holds(second.time - first.time >= 1500, `1 500 ms later it was ${second.time - first.time} ms later`);
    const times = (await all(log.scan())).map((event) => event.time);
    same("times", times, [first.time, first.time, second.time]);
  }),

  claim("names that look alike aren't confused, and all Unicode is allowed", async (log) => {
    const names = ["a", "A", "a ", "a/b", "a\0b", "\u00e9", "e\u0301", "🦉", "__proto__", "$all", "n".repeat(1024)];
    for (const name of names) await log.append(name, { id: name, type: name }, { expect: "none" });
    for (const [index, name] of names.entries()) {
      const events = await all(log.readStream(name));
      same(
        `"${name.slice(0, 20)}"`,
        events.map(({ id, type, position }) => [id, type, position]),
        [[name, name, index + 1]],
      );
      same(`scan of "${name.slice(0, 20)}"`, await scanned(log, { types: [name] }), [index + 1]);
    }
  }),

  claim("an append whose signal is aborted stores nothing", async (log) => {
    const signal = AbortSignal.abort(new Error("enough"));
    await refused("ABORTED", "append", () => log.append("s", numbered(1), { signal }));
    same("position", log.position, 0);
  }),

  claim("an event that was read can be appended to another stream", async (log) => {
    const first = { id: "an id", type: "placed", data: { n: 1 }, metadata: { actor: "alice" } };
    await log.append("a", first, { expect: "none" });
    const [event] = await all(log.readStream("a"));
    if (event === undefined) throw new Error("the event is missing");
    await log.append("b", event, { expect: "none" });
    const [copy] = await all(log.readStream("b"));
    const { id, type, data, metadata, version, position } = copy ?? event;
    const expected = ["an id", "placed", { n: 1 }, { actor: "alice" }, 1, 2];
    same("copy", [id, type, data, metadata, version, position], expected);
  }),

  claim("an event that was read and has lost its data on the way is refused, not stored without", async (log) => {
    await log.append("a", { type: "placed", data: { n: 1 } });
    const lost = { stream: "a", version: 1, position: 1, time: 0, type: "placed" };
    await refused("INVALID_ARGUMENT", "append", () => log.append("b", [{ type: "placed" }, lost]));
    same("position", log.position, 1);
    await log.append("b", [{ type: "placed" }, { ...lost, data: undefined }]);
    same("position", log.position, 3);
  }),
];
