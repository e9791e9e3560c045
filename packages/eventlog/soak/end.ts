import { logRecordBytes, mapRecordBytes, streamName, streamNumber } from "./contents.ts";
import { EVENTS, STATES } from "./stage.ts";
import type { Stage } from "./stage.ts";

/** When nobody writes any more: the store holds what the ledger says, all of it and nothing else, to the byte. */
export async function compareAll(stage: Stage): Promise<void> {
  await compareEvents(stage);
  await compareStates(stage);
}

async function compareEvents({ engine, log, ledger, contents, problems }: Stage): Promise<void> {
  ledger.raised(log.firstPosition);
  const wrong = (found: string): void => problems.add("end", found);
  const next = Float64Array.from(ledger.first);
  let events = 0;
  for await (const batch of log.scan().batches()) {
    for (const event of batch) {
      const stream = streamNumber(event.stream);
      events++;
      if (event.version !== next[stream]) wrong(`${event.stream} goes on with ${event.version}, not ${next[stream]}`);
      next[stream] = event.version + 1;
      if (!ledger.has(event.position) || !contents.isEvent(stream, event.version, event))
        wrong(`version ${event.version} of ${event.stream} isn't what was appended`);
    }
  }
  if (events !== ledger.events) wrong(`the log has ${events} events, and ${ledger.events} were to be there`);
  for (const [stream, version] of ledger.version.entries()) {
    if (next[stream] !== version + 1) wrong(`${streamName(stream)} ends before ${next[stream]}, not with ${version}`);
  }
  const { version } = await log.streamInfo(streamName(0));
  if (version !== ledger.version[0]) wrong(`${streamName(0)} has version ${version}, not ${ledger.version[0]}`);
  let bytes = ledger.liveBytes;
  for await (const batch of engine.log(EVENTS).scan({ from: log.firstPosition })) {
    for (const { sort, key, start, end } of batch)
      if (ledger.has(sort)) bytes -= end - start + key.length + logRecordBytes;
  }
  for await (const batch of engine.map(STATES).scan())
    for (const { key, payload } of batch) bytes -= payload.length + key.length + mapRecordBytes;
  if (bytes !== 0) wrong(`what reads give is ${bytes} bytes less than what is counted as live`);
}

async function compareStates({ engine, ledger, contents, problems }: Stage): Promise<void> {
  const left = new Map([...ledger.state.entries()].filter(([, version]) => version > 0));
  for await (const batch of engine.map(STATES).scan()) {
    for (const { key, payload } of batch) {
      const stream = streamNumber(key);
      if (contents.versionOfState(stream, payload) !== left.get(stream))
        problems.add("end", `the state of ${key} isn't that of version ${left.get(stream)}`);
      left.delete(stream);
    }
  }
  if (left.size > 0) problems.add("end", `${left.size} states are missing`);
}
