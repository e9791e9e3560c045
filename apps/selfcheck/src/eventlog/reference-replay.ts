import type { EventLog } from "@ehdb/contracts";
import { shownAnswer } from "../answer.ts";
import type { EventSource } from "../event-source.ts";
import { Problems } from "../problems.ts";
import { EventCalls } from "./event-calls.ts";
import type { AppendCall } from "./event-calls.ts";

/** Makes the same calls of the reference, in the same order: it must have said the same to each. */
export async function replayCalls(
  reference: EventLog,
  source: EventSource,
  calls: readonly AppendCall[],
): Promise<Problems> {
  const problems = new Problems();
  const made = new EventCalls(reference, source);
  for (const [index, call] of calls.entries()) {
    const said = shownAnswer(call.answer);
    const wanted = shownAnswer(await made.append(call, call.expect));
    if (said !== wanted) problems.add(`call ${index + 1}, of stream "${call.stream}": ${said} instead of ${wanted}`);
  }
  return problems;
}
