import { settled, settling } from "@ehdb/harness";
import type { Job } from "./records.ts";
import { openGroup } from "./store.ts";
import { pause, say } from "./work.ts";
import type { Work } from "./work.ts";
import { runWriters } from "./writers.ts";

/** What the program can do wrong instead of its work. */
export const wrongWork: Readonly<Record<string, (work: Work) => Promise<void>>> = {
  "says that it's settled before it is": settleFalsely,
  "forgets a group": forgetGroup,
};

/** As many as these are always said to be settled and aren't yet. */
const held = 16;

async function settleFalsely(work: Work): Promise<void> {
  const writing = runWriters(work);
  const jobs: Job[] = [];
  for (;;) {
    const fetched = await work.groups.plain.fetch({ member: "p0", limit: 8, waitSeconds: 0.05 });
    for (const job of fetched) {
      say(settling(job.sequence));
      say(settled(job.sequence));
      jobs.push(job);
    }
    for (const job of jobs.splice(0, jobs.length - held)) void job.ack().catch(() => undefined);
    await Promise.race([pause(1), ...writing]);
  }
}

/** Some jobs are done, and then the group begins again. */
async function forgetGroup(work: Work): Promise<void> {
  const writing = runWriters(work);
  while (work.settledCount === 0) await work.acknowledge("plain", await work.fetch("plain", "p0", 5));
  await work.store.feed.deleteGroup("plain", { pending: "drop" });
  await openGroup(work.store.feed, "plain");
  await Promise.all(writing);
}
