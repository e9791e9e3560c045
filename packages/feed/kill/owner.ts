// The process that has the store open, and all who work on it in this process.
import { opened, opening } from "@ehdb/harness";
import type { KillLoad } from "@ehdb/harness";
import { memberNames, runMembers } from "./members.ts";
import type { KillSettings } from "./settings.ts";
import { openGroup, openStore } from "./store.ts";
import { pause, say, Work } from "./work.ts";
import { runWriters } from "./writers.ts";

/** Opens, and says that load begins. */
export async function openWork({ directory, incarnation, settings, defect }: KillLoad): Promise<Work> {
  const load = settings as KillSettings;
  say(opening);
  // Sync mostly; every third incarnation lets a timer bring the syncs about, and in every eighth the system's memory is enough.
  const durability = incarnation % 8 === 0 ? "async" : incarnation % 3 === 0 ? "batch" : "sync";
  const store = await openStore(directory, load, { durability });
  const [plain, ordered] = [await openGroup(store.feed, "plain"), await openGroup(store.feed, "ordered")];
  const seed = load.seed * 1000 + incarnation;
  const work = new Work({ store, groups: { plain, ordered }, incarnation, seed, defect });
  say(opened);
  // Who was killed holds what it held: until its lease is over, or somebody says that it has left.
  if (work.random.integer(2) === 0)
    for (const name of memberNames) await Promise.all([plain.leave(name), ordered.leave(name)]);
  return work;
}

/** All of it, until the work is over. */
export async function runOwner(work: Work): Promise<void> {
  const sealing = async (): Promise<void> => {
    while (!work.isOver) {
      await pause(work.random.integer(50));
      await work.store.engine.seal();
    }
  };
  await Promise.all([...runWriters(work), ...runMembers(work), sealing()]);
}
