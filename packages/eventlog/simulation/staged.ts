import type { AppendResult, Commit } from "@ehdb/contracts";
import { beside, putOf } from "./beside.ts";
import type { AppendCall } from "./calls.ts";
import { codeOf } from "./context.ts";
import type { Work } from "./context.ts";

/** An append and a put in one commit: both are done, or neither is. */
export async function commitStaged({ log, run }: Work, call: AppendCall): Promise<AppendResult> {
  const { stream, events, expect } = call;
  const { key, text } = putOf(call);
  let commit: Commit;
  run.staging++;
  try {
    commit = await log.engine.commit((batch) => {
      const putsFirst = call.number % 2 === 0;
      if (putsFirst) batch.put(beside.name, key, Buffer.from(text));
      log.stageAppend(batch, stream, events, { expect });
      if (!putsFirst) batch.put(beside.name, key, Buffer.from(text));
    });
  } catch (error) {
    throw codeOf(error) === "CONFLICT" ? asOfTheLog(error as Error & { data: object }) : error;
  } finally {
    run.staging--;
  }
  const { appended, time, isDuplicate } = commit;
  const [first, last] = [appended[0], appended.at(-1)];
  if (first === undefined || last === undefined || appended.length !== events.length)
    throw new Error(`call ${call.number} stages ${events.length} events, and its commit has ${appended.length}`);
  return {
    firstVersion: first.version,
    version: last.version,
    firstPosition: first.sort,
    position: last.sort,
    time,
    isDuplicate,
  };
}

/** The engine says it in its own words. Nobody deletes these streams. */
function asOfTheLog(error: Error & { data: object }): Error {
  const { key, ...data } = error.data as Readonly<Record<string, unknown>>;
  return Object.assign(error, { data: { stream: key, isDeleted: false, ...data } });
}
