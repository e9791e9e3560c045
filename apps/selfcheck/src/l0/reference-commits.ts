import { referenceEngine } from "@ehdb/l0";
import type { Engine } from "@ehdb/contracts";
import { shownAnswer } from "../answer.ts";
import type { EventSource } from "../event-source.ts";
import { Problems } from "../problems.ts";
import { CommitCalls } from "./commit-calls.ts";
import type { CommitCall } from "./commit-calls.ts";
import { datasets } from "./staged-commit.ts";

export const referenceOf = (): Engine => referenceEngine({ datasets });

/** Makes the same calls of the reference, in the same order: it must have said the same to each. */
export async function replayCommits(
  reference: Engine,
  source: EventSource,
  calls: readonly CommitCall[],
): Promise<Problems> {
  const problems = new Problems();
  const made = new CommitCalls(reference, source);
  for (const [index, call] of calls.entries()) {
    const said = shownAnswer(call.answer);
    const wanted = shownAnswer(await made.commit(call, call.expected));
    if (said !== wanted) problems.add(`commit ${index + 1}, under "${call.stream}": ${said} instead of ${wanted}`);
  }
  return problems;
}
