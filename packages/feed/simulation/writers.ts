import { excuse, takes } from "./context.ts";
import type { Work } from "./context.ts";

const types = ["a.one", "a.two", "b.one.more", "c.none"];
const keys = ["x", "y", "z"];

/** Appends events, some of which the group wants. */
export async function writer(work: Work, rounds: number): Promise<void> {
  const { run, store, stage } = work;
  const { random, ledger, counts } = run;
  for (let left = rounds; left > 0 && takes(work); left--) {
    const key = random.pick(keys);
    const events = Array.from({ length: random.between(1, 3) }, () => ({ type: random.pick(types) }));
    try {
      await stage.step("an append", async () => {
        const { firstPosition } = await store.log.append(key, events);
        for (const [index, { type }] of events.entries()) ledger.appended(firstPosition + index, type, key);
        counts.appends++;
      });
    } catch (error) {
      excuse(run, error);
    }
    if (random.chance(0.4)) await stage.pause(random.pick([1, 30, 300]));
  }
}
