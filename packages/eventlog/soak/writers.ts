import type { NewEvent } from "@ehdb/contracts";
import { payloadSeed, SeededRandom } from "@ehdb/harness";
import { controls } from "./settings.ts";
import { streamName } from "./contents.ts";
import { STATES } from "./stage.ts";
import type { Stage } from "./stage.ts";

/** One in so many events is another one, where that is the defect. */
const wrongOneIn = 499;

/** Writes to its own streams, one call after the other, until it's over: events, states together with events, and now and then it erases. */
export async function write(stage: Stage, writer: number): Promise<void> {
  const { settings, isOver } = stage;
  const { streamsOfWriter, eraseOneIn } = settings;
  const random = new SeededRandom(payloadSeed + writer);
  while (!isOver()) {
    const stream = writer * streamsOfWriter + random.integer(streamsOfWriter);
    if (random.integer(eraseOneIn) === 0) await erase(stage, stream, random);
    else if (random.integer(4) === 0) await appendWithState(stage, stream);
    else await append(stage, stream, random.integer(8) === 0 ? 3 : 1, random.integer(2) === 0);
  }
}

async function append(
  { log, ledger, ...stage }: Stage,
  stream: number,
  count: number,
  isExact: boolean,
): Promise<void> {
  const version = ledger.version[stream] as number;
  const events = Array.from({ length: count }, (_, index) => eventOf(stage, stream, version + 1 + index));
  ledger.asked[stream] = version + count;
  const result = await log.append(streamName(stream), events, isExact ? { expect: version } : {});
  if (result.firstVersion !== version + 1)
    stage.problems.add("versions", `${streamName(stream)} went from ${version} to ${result.firstVersion}`);
  ledger.appended(stream, result.firstPosition, count);
}

async function appendWithState(stage: Stage, stream: number): Promise<void> {
  const { engine, log, ledger, contents } = stage;
  const name = streamName(stream);
  const version = (ledger.version[stream] as number) + 1;
  ledger.asked[stream] = version;
  ledger.stateAsked[stream] = version;
  const { appended } = await engine.commit((batch) => {
    log.stageAppend(batch, name, eventOf(stage, stream, version));
    batch.put(STATES, name, contents.state(stream, version));
  });
  ledger.appended(stream, appended[0]?.sort ?? 0, 1);
  ledger.put(stream, version);
}

/** Half of the stream, or all of it and its state. */
async function erase({ engine, log, ledger }: Stage, stream: number, random: SeededRandom): Promise<void> {
  const name = streamName(stream);
  const [version, first] = [ledger.version[stream] as number, ledger.first[stream] as number];
  if (version < first) return;
  if (random.integer(2) === 0) {
    const before = first + Math.ceil((version + 1 - first) / 2);
    ledger.firstAsked[stream] = before;
    await log.truncateStream(name, before);
    ledger.hidden(stream, before);
    return;
  }
  ledger.firstAsked[stream] = version + 1;
  await log.deleteStream(name);
  ledger.hidden(stream, version + 1);
  ledger.stateAsked[stream] = 0;
  await engine.commit((batch) => batch.delete(STATES, name));
  ledger.deleted(stream);
}

function eventOf(
  { contents, control }: Pick<Stage, "contents" | "control">,
  stream: number,
  version: number,
): NewEvent {
  const isWrong = control === controls.content && (stream * 31 + version * 13) % wrongOneIn === 0;
  return contents.event(stream, isWrong ? version + 1 : version);
}
