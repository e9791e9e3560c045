// The program that is killed: the owner of the store, or a member in a process of its own, whose owner lives on.
import { fileURLToPath } from "node:url";
import { broken } from "@ehdb/harness";
import type { KillLoad } from "@ehdb/harness";
import { wrongWork } from "./defects.ts";
import { MemberDesk } from "./member-desk.ts";
import { runMemberProcess } from "./member-process.ts";
import { openWork, runOwner } from "./owner.ts";
import { say } from "./work.ts";

const load = JSON.parse(process.argv[2] ?? "") as KillLoad & { readonly isOwner?: boolean };
const { defect, incarnation, isOwner = false } = load;
const forTheDead = "acknowledges for a dead member";

if (isOwner) await runOwnerOfAMember();
else if (defect === forTheDead || (defect === undefined && incarnation % 2 === 0))
  await runMemberProcess(fileURLToPath(import.meta.url), load);
else {
  const work = await openWork(load);
  await (wrongWork[defect ?? ""] ?? runOwner)(work);
}

/** Nobody kills it: what goes wrong it says itself. */
async function runOwnerOfAMember(): Promise<void> {
  try {
    const work = await openWork(load);
    const desk = new MemberDesk(work);
    const running = runOwner(work);
    await Promise.race([desk.serve(), running]);
    if (defect === forTheDead) await desk.acknowledgeAll();
    else await desk.bury();
    work.isOver = true;
    await running;
    if (defect !== forTheDead) await desk.inherit();
    await work.store.close();
  } catch (error) {
    say(
      broken(`the owner of a member that was killed failed: ${error instanceof Error ? error.stack : String(error)}`),
    );
    process.exitCode = 1;
  }
}
