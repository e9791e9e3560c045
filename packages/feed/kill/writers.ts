import { acknowledged } from "@ehdb/harness";
import { groupNames, jobOf } from "./records.ts";
import type { GroupName } from "./records.ts";
import { pause, say } from "./work.ts";
import type { Work } from "./work.ts";

/** Few, so that in a group with order several jobs of one wait for each other. */
const keys = 12;

/** Append jobs until the work is over. */
export function runWriters(work: Work): Promise<void>[] {
  return groupNames.flatMap((group) => [single(work, group), several(work, group)]);
}

async function single(work: Work, group: GroupName): Promise<void> {
  const writer = `${work.incarnation}.${group}-single`;
  for (let number = 1; !work.isOver; number++) {
    const id = `${writer}:${number}`;
    const { position } = await work.store.log.append(keyOf(number), jobOf(group, id));
    say(acknowledged(id, position));
    await pause(work.random.integer(3));
  }
}

/** Jobs that are kept or lost together. */
async function several(work: Work, group: GroupName): Promise<void> {
  const writer = `${work.incarnation}.${group}-several`;
  for (let number = 1; !work.isOver;) {
    const ids = Array.from({ length: 1 + work.random.integer(40) }, () => `${writer}:${number++}`);
    const events = ids.map((id) => jobOf(group, id));
    const { firstPosition } = await work.store.log.append(keyOf(number), events);
    for (const [index, id] of ids.entries()) say(acknowledged(id, firstPosition + index));
    await pause(work.random.integer(6));
  }
}

const keyOf = (number: number): string => `key-${number % keys}`;
