import type { EventLog } from "../event-log.ts";
import { afterReopening, claim, refused, same } from "./claim.ts";
import { fill, iteratorOf, numbered, positions, read, scanned, take } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

/** Positions that a subscription shows up to the end of the log. */
async function subscribed(log: EventLog): Promise<number[]> {
  const { position: end } = await log.append("the end", { type: "ended" });
  const seen: number[] = [];
  for await (const { position } of log.subscribe()) {
    if (position === end) break;
    seen.push(position);
  }
  return seen;
}

export const truncationRules: readonly EventLogRule[] = [
  claim(
    "a truncation hides the stream's first events at once, from reads, scans and subscriptions",
    async (log) => {
      await fill(log, "s", "t", "s", "s", "t");
      const info = await log.truncateStream("s", 3);
      same("info", info, { stream: "s", version: 3, firstVersion: 3, isDeleted: false });
      same("info asked for", await log.streamInfo("s"), info);
      same("read", await read(log, "s"), [3]);
      same("read from 1", await read(log, "s", { from: 1 }), [3]);
      same("read backwards", await read(log, "s", { direction: "backwards" }), [3]);
      same("read backwards from 2", await read(log, "s", { direction: "backwards", from: 2 }), []);
      same("scan", await scanned(log), [2, 4, 5]);
      same("scan backwards", await scanned(log, { direction: "backwards" }), [5, 4, 2]);
      same("scan of it", await scanned(log, { stream: "s" }), [4]);
      same("scan after a hidden one", await scanned(log, { after: 1 }), [2, 4, 5]);
      same("the other stream", await read(log, "t"), [1, 2]);
      same("position", [log.position, log.firstPosition], [5, 1]);
      same("subscription", await subscribed(log), [2, 4, 5]);
    },
    "truncation",
  ),

  claim(
    "all of a stream can be truncated, and its versions go on",
    async (log) => {
      await log.append("s", numbered(2));
      const info = { stream: "s", version: 2, firstVersion: 3, isDeleted: false };
      same("info", await log.truncateStream("s", 3), info);
      same("read", await read(log, "s"), []);
      const { version, position } = await log.append("s", numbered(1));
      same("the next", [version, position, await read(log, "s")], [3, 3, [3]]);
    },
    "truncation",
  ),

  claim(
    "a truncation never moves back, nor beyond the stream's end",
    async (log) => {
      await log.append("s", numbered(4));
      await log.truncateStream("s", 3);
      same("back", (await log.truncateStream("s", 2)).firstVersion, 3);
      same("read", await read(log, "s"), [3, 4]);
      const { data } = await refused("OUT_OF_RANGE", "beyond", () => log.truncateStream("s", 6));
      same("what it says", [data["stream"], data["version"]], ["s", 4]);
      await refused("OUT_OF_RANGE", "a stream that isn't there", () => log.truncateStream("t", 2));
      const nothing = { stream: "t", version: 0, firstVersion: 1, isDeleted: false };
      same("before 1", await log.truncateStream("t", 1), nothing);
      for (const version of [0, -1, 1.5, Number.NaN, "2"]) {
        await refused("INVALID_ARGUMENT", `before ${version}`, () => log.truncateStream("s", version as number));
      }
      same("read again", await read(log, "s"), [3, 4]);
    },
    "truncation",
  ),

  claim(
    "a subscription that is behind doesn't show what was truncated meanwhile",
    async (log) => {
      await fill(log, "s", "t");
      const iterator = iteratorOf(log.subscribe({ after: "end" }));
      await log.append("s", numbered(3));
      await log.truncateStream("s", 4);
      same("positions", positions(await take(iterator, 1)), [5]);
    },
    "truncation",
  ),

  claim(
    "a delete hides all events of a stream at once, from reads, scans and subscriptions",
    async (log) => {
      await fill(log, "s", "t", "s");
      const info = await log.deleteStream("s");
      same("info", info, { stream: "s", version: 2, firstVersion: 3, isDeleted: true });
      same("info asked for", await log.streamInfo("s"), info);
      same("read", await read(log, "s"), []);
      same("read backwards", await read(log, "s", { direction: "backwards" }), []);
      same("scan", await scanned(log), [2]);
      same("scan of it", await scanned(log, { stream: "s" }), []);
      same("position", log.position, 3);
      same("subscription", await subscribed(log), [2]);
    },
    "truncation",
  ),

  claim(
    "an append brings a deleted stream back, with the next version, and without what it held",
    async (log) => {
      await log.append("s", numbered(2));
      await log.deleteStream("s");
      const { version, position } = await log.append("s", numbered(1));
      same("the next", [version, position], [3, 3]);
      same("read", [await read(log, "s"), await scanned(log)], [[3], [3]]);
      const info = { stream: "s", version: 3, firstVersion: 3, isDeleted: false };
      same("info", await log.streamInfo("s"), info);
      same("a truncation of what is hidden", await log.truncateStream("s", 2), info);
    },
    "truncation",
  ),

  claim(
    "a delete may expect, as an append",
    async (log) => {
      await log.append("s", numbered(2));
      for (const expect of ["none", 0, 1, 3] as const) {
        const { data } = await refused("CONFLICT", `${expect}`, () => log.deleteStream("s", { expect }));
        same("what it says", { ...data }, { stream: "s", expected: expect, actual: 2, isDeleted: false });
      }
      await refused("CONFLICT", "another stream", () => log.deleteStream("t", { expect: "exists" }));
      same("read", await read(log, "s"), [1, 2]);
      same("deleted", (await log.deleteStream("s", { expect: 2 })).isDeleted, true);
      await refused("CONFLICT", "once more", () => log.deleteStream("s", { expect: "exists" }));
      await refused("INVALID_OPTION", "no expectation", () => log.deleteStream("s", { expect: -1 }));
    },
    "truncation",
  ),

  claim(
    "to delete what isn't there, or a second time, changes nothing",
    async (log) => {
      const nothing = { stream: "s", version: 0, firstVersion: 1, isDeleted: false };
      same("never there", await log.deleteStream("s"), nothing);
      await log.append("s", numbered(1), { expect: 0 });
      const first = await log.deleteStream("s");
      same("a second time", await log.deleteStream("s"), first);
    },
    "truncation",
  ),

  claim(
    "what was truncated or deleted stays so after the log was opened again",
    async (log, subject) => {
      await log.append("s", numbered(3));
      await log.append("t", numbered(2));
      await log.truncateStream("s", 3);
      await log.deleteStream("t");
      await afterReopening(subject, async (again) => {
        same("s", await read(again, "s"), [3]);
        const info = { stream: "t", version: 2, firstVersion: 3, isDeleted: true };
        same("t", await again.streamInfo("t"), info);
        same("scan", await scanned(again), [3]);
        same("the next of t", (await again.append("t", numbered(1), { expect: "none" })).version, 3);
      });
    },
    "truncation",
    "persistence",
  ),
];
