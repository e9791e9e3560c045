import type { Expectation } from "../engine.ts";
import type { EventLog } from "../event-log.ts";
import { claim, holds, refused, same } from "./claim.ts";
import { fill, numbered, read } from "./events.ts";
import type { EventLogRule } from "./subject.ts";

async function conflicts(
  log: EventLog,
  stream: string,
  expect: Expectation,
  actual: number,
  isDeleted = false,
): Promise<void> {
  const before = log.position;
  const call = (): Promise<unknown> => log.append(stream, numbered(2), { expect });
  const { data } = await refused("CONFLICT", `append to ${stream} with ${expect}`, call);
  same("what the conflict says", { ...data }, { stream, expected: expect, actual, isDeleted });
  same("the log's position after a conflict", log.position, before);
}

export const expectationRules: readonly EventLogRule[] = [
  claim("`any` always holds, and is what holds when nothing is said", async (log) => {
    await log.append("s", numbered(1), { expect: "any" });
    await log.append("s", numbered(1), { expect: "any" });
    await log.append("s", numbered(1));
    await log.append("s", numbered(1), {});
    same("versions", await read(log, "s"), [1, 2, 3, 4]);
  }),

  claim("`none` holds on a stream that isn't there, and on no other", async (log) => {
    await log.append("s", numbered(2), { expect: "none" });
    await conflicts(log, "s", "none", 2);
    await log.append("other", numbered(1), { expect: "none" });
  }),

  claim("`exists` holds on a stream that is there, and on no other", async (log) => {
    await conflicts(log, "s", "exists", 0);
    await log.append("s", numbered(1));
    await log.append("s", numbered(1), { expect: "exists" });
    await conflicts(log, "other", "exists", 0);
  }),

  claim("a version holds when the stream is exactly there", async (log) => {
    await log.append("s", numbered(3), { expect: 0 });
    for (const expect of [0, 1, 2, 4, 300, Number.MAX_SAFE_INTEGER]) await conflicts(log, "s", expect, 3);
    await log.append("s", numbered(1), { expect: 3 });
    await conflicts(log, "other", 3, 0);
    same("versions", await read(log, "s"), [1, 2, 3, 4]);
  }),

  claim("of appends made at once with the same version, the first one wins", async (log) => {
    await fill(log, "s");
    const tries = Array.from({ length: 8 }, (_, n) => log.append("s", { type: "tried", data: { n } }, { expect: 1 }));
    const outcomes = (await Promise.allSettled(tries)).map((outcome) => outcome.status);
    same("outcomes", outcomes, ["fulfilled", ...Array.from({ length: 7 }, () => "rejected")]);
    same("versions", await read(log, "s"), [1, 2]);
  }),

  claim("appends made at once may rest on each other", async (log) => {
    const appends = [0, 1, 2, 3].map((expect) => log.append("s", numbered(1), { expect }));
    same(
      "versions",
      (await Promise.all(appends)).map((result) => result.version),
      [1, 2, 3, 4],
    );
  }),

  claim("an expectation that isn't one is refused", async (log) => {
    for (const expect of [-1, 0.5, Number.NaN, "nothing", null, 2 ** 53]) {
      const call = (): Promise<unknown> => log.append("s", numbered(1), { expect: expect as Expectation });
      await refused("INVALID_OPTION", `expect ${expect}`, call);
    }
    same("position", log.position, 0);
  }),

  claim(
    "on a deleted stream `none` holds, `exists` doesn't, and the version goes on counting",
    async (log) => {
      await log.append("s", numbered(3));
      await log.deleteStream("s");
      await conflicts(log, "s", "exists", 3, true);
      await conflicts(log, "s", 0, 3, true);
      await log.append("s", numbered(1), { expect: "none" });
      await conflicts(log, "s", "none", 4);
      await log.append("s", numbered(1), { expect: "exists" });
      await log.deleteStream("s");
      const { version } = await log.append("s", numbered(1), { expect: 5 });
      same("version", version, 6);
    },
    "truncation",
  ),

  claim(
    "a stream whose events were all truncated still exists",
    async (log) => {
      await log.append("s", numbered(2));
      await log.truncateStream("s", 3);
      await conflicts(log, "s", "none", 2);
      await log.append("s", numbered(1), { expect: "exists" });
      const { version } = await log.append("s", numbered(1), { expect: 3 });
      holds(version === 4, `the version is ${version} instead of 4`);
    },
    "truncation",
  ),
];
