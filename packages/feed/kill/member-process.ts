// A member in a process of its own. It asks the owner, a process that it starts, for jobs, and tells it what is done with.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { KillLoad } from "@ehdb/harness";
import { SeededRandom } from "@ehdb/harness";
import { groupNames } from "./records.ts";
import type { GroupName } from "./records.ts";
import { pause } from "./work.ts";

/** What a member asks the owner for. */
export type Request =
  | { readonly asks: "fetch"; readonly group: GroupName; readonly limit: number }
  | { readonly asks: "acknowledge"; readonly group: GroupName; readonly sequences: readonly number[] };

/** Sequences of jobs: those that it got, or those that were still its own. */
export type Answer = readonly number[];

/**
 * Works until it's killed. The owner has the same standard output, speaks the kill protocol there, and lives on for as long as it needs to see what
 * becomes of the member's jobs.
 */
export async function runMemberProcess(program: string, load: KillLoad): Promise<void> {
  const owner = fork(program, [JSON.stringify({ ...load, isOwner: true })], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  owner.on("exit", () => process.exit(1));
  const random = new SeededRandom(load.incarnation);
  for (;;) {
    const group = random.pick(groupNames);
    const jobs = await answer(owner, { asks: "fetch", group, limit: 1 + random.integer(20) });
    await pause(random.integer(30));
    const done = jobs.filter(() => random.integer(8) > 0);
    if (done.length > 0) await answer(owner, { asks: "acknowledge", group, sequences: done });
  }
}

async function answer(owner: ChildProcess, request: Request): Promise<Answer> {
  return await new Promise((resolve) => {
    owner.once("message", (message) => resolve(message as Answer));
    // Whoever can't be told has gone, which is seen elsewhere.
    owner.send(request, () => undefined);
  });
}
