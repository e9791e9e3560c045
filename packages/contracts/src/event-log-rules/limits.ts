import type { EventLog, NewEvent } from "../event-log.ts";
import { MAX_WRITE_BYTES, MIB } from "../limits.ts";
import { claim, holds, refused, same } from "./claim.ts";
import { all, numbered } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

const noNames: readonly unknown[] = ["", "n".repeat(1025), "é".repeat(513), "lone \ud800", "\udc00", 1, null, {}];

const cycle: { name: string; items: unknown[] } = { name: "cycle", items: [] };
cycle.items.push({ back: cycle });

export const limitRules: readonly EventLogRule[] = [
  claim("what isn't a name is refused, of streams, types and ids", async (log) => {
    for (const name of noNames as readonly string[]) {
      const calls: readonly (() => unknown)[] = [
        () => log.append(name, numbered(1)),
        () => log.append("s", { type: name }),
        () => log.append("s", { id: name, type: "placed" }, { expect: 0 }),
        () => all(log.readStream(name)),
        () => log.streamInfo(name),
      ];
      for (const call of calls) await refused("INVALID_ARGUMENT", `${shown(name)}: ${call.toString()}`, call);
    }
    same("position", log.position, 0);
  }),

  claim(
    "what isn't a name is refused of consumers",
    async (log) => {
      for (const name of noNames as readonly string[]) {
        await refused("INVALID_ARGUMENT", shown(name), () => log.consumer(name).ack(0));
      }
      same("consumers", await log.consumers(), []);
    },
    "consumers",
  ),

  claim("an append needs events that are some", async (log) => {
    const wrong: readonly unknown[] = [[], undefined, null, "placed", [undefined], [null], {}, { data: 1 }, [[]]];
    for (const events of wrong) {
      const call = (): Promise<unknown> => log.append("s", events as NewEvent);
      await refused("INVALID_ARGUMENT", JSON.stringify(events) ?? "undefined", call);
    }
    same("position", log.position, 0);
  }),

  claim("data that JSON doesn't have is refused, with its path", async (log) => {
    const cases: readonly [unknown, string][] = [
      [1n, "data"],
      [{ a: [0, { b: 1n }] }, "data.a[1].b"],
      [{ "a key": { deep: 1n } }, `data["a key"].deep`],
      [cycle, "data.items[0].back"],
      [{ own: { toJSON: () => ({ big: 1n }) } }, "data.own.big"],
    ];
    for (const [data, path] of cases) {
      const error = await refused("INVALID_ARGUMENT", path, () => log.append("s", { type: "placed", data }));
      same("path", error.data["path"], path);
    }
    const event = { type: "placed", metadata: { list: [1n] } };
    const { data } = await refused("INVALID_ARGUMENT", "metadata", () => log.append("s", event));
    same("path", data["path"], "metadata.list[0]");
    const throwing = {
      toJSON: (): never => {
        throw new Error("no");
      },
    };
    await refused("INVALID_ARGUMENT", "toJSON throws", () => log.append("s", { type: "placed", data: throwing }));
    const twice = { n: 1 };
    await log.append("s", { type: "placed", data: { a: twice, b: twice } });
    same("position", log.position, 1);
  }),

  claim("metadata is an object", async (log) => {
    for (const metadata of ["text", 1, true, null, [], new Date(0), Uint8Array.from([1]), () => 1]) {
      const call = (): Promise<unknown> => log.append("s", { type: "placed", metadata });
      await refused("INVALID_ARGUMENT", JSON.stringify(metadata) ?? "a function", call);
    }
    same("position", log.position, 0);
  }),

  claim("a property that no event has is refused, with the one that was meant", async (log) => {
    const event = { type: "placed", metaData: {} };
    const { data } = await refused("INVALID_ARGUMENT", "metaData", () => log.append("s", event));
    same("suggestion", data["suggestion"], "metadata");
  }),

  claim("an id that stands twice in one append is refused", async (log) => {
    const event = { id: "an id", type: "placed" };
    await refused("INVALID_ARGUMENT", "twice", () => log.append("s", [event, { ...event, data: 1 }], { expect: 0 }));
    same("position", log.position, 0);
  }),

  claim("one event that is wrong keeps all of its append out", async (log) => {
    const events = [...numbered(2), { type: "placed", data: 1n }, ...numbered(1)];
    await refused("INVALID_ARGUMENT", "append", () => log.append("s", events));
    same("position", log.position, 0);
    same("version", (await log.append("s", numbered(1))).version, 1);
  }),

  claim("more than 16 MiB at once is refused, with how many they are", async (log) => {
    const half = new Uint8Array(8 * MIB);
    const cases: readonly (readonly NewEvent[])[] = [
      [{ type: "placed", data: new Uint8Array(MAX_WRITE_BYTES + 1) }],
      [{ type: "placed", data: "x".repeat(MAX_WRITE_BYTES) }],
      [{ type: "placed", metadata: { text: "é".repeat(MAX_WRITE_BYTES / 2) } }],
      [half, half].map((data) => ({ type: "placed", data })),
    ];
    for (const events of cases) {
      const { data } = await refused("TOO_LARGE", `${events.length} events`, () => log.append("s", events));
      const { bytes, maxBytes } = data;
      holds(typeof bytes === "number" && bytes > MAX_WRITE_BYTES, `it says ${bytes} bytes`);
      same("limit", maxBytes, MAX_WRITE_BYTES);
    }
    same("position", log.position, 0);
  }),

  claim("up to 16 MiB are stored as a whole", async (log) => {
    const bytes = new Uint8Array(15 * MIB);
    for (let at = 0; at < bytes.length; at += 4093) bytes[at] = at % 251;
    await log.append("s", [
      { type: "placed", data: bytes },
      { type: "placed", data: "the last" },
    ]);
    const [large, last] = await all(log.readStream("s"));
    const data = large?.data as Uint8Array;
    holds(data.length === bytes.length, `there are ${data.length} bytes`);
    for (let at = 0; at < bytes.length; at++) if (data[at] !== bytes[at]) throw new Error(`byte ${at} differs`);
    same("the last", last?.data, "the last");
  }),

  claim("an option that isn't known is refused, with the one that was meant", async (log) => {
    const calls: readonly [string, () => unknown][] = [
      ["expect", () => log.append("s", numbered(1), optionsOf("expct"))],
      ["direction", () => all(log.readStream("s", optionsOf("directon")))],
      ["streamPrefix", () => all(log.scan(optionsOf("streamprefix")))],
      ["onCaughtUp", () => log.subscribe(optionsOf("onCaughtup"))],
    ];
    for (const [meant, call] of calls) {
      const { data } = await refused("INVALID_OPTION", meant, call);
      same("suggestion", data["suggestion"], meant);
    }
    await refused("INVALID_OPTION", "no object", () => log.append("s", numbered(1), "any" as never));
    same("position", log.position, 0);
  }),

  claim(
    "an option that isn't known is refused of a consumer's tail",
    async (log) => refusesOption(() => log.consumer("c").tail(optionsOf("singal")), "signal"),
    "consumers",
  ),

  claim(
    "an option that isn't known is refused of a delete",
    async (log) => refusesOption(() => log.deleteStream("s", optionsOf("expects")), "expect"),
    "truncation",
  ),

  claim(
    "an option that isn't known is refused of a reclaim",
    async (log: EventLog) => refusesOption(() => log.reclaim(optionsOf("maxEvent")), "maxEvents"),
    "reclaim",
  ),
];

async function refusesOption(call: () => unknown, meant: string): Promise<void> {
  const { data } = await refused("INVALID_OPTION", meant, call);
  same("suggestion", data["suggestion"], meant);
}

const shown = (name: unknown): string => JSON.stringify(name).slice(0, 20);

/** What the compiler refuses, and JavaScript doesn't. */
const optionsOf = (name: string): object => ({ [name]: "value" });
