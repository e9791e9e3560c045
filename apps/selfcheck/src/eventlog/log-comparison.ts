import type { EventLog, EventStream } from "@ehdb/contracts";
import type { Checks } from "../checks.ts";
import type { EventSource } from "../event-source.ts";
import { perSecond } from "../figures.ts";
import type { Finding } from "../finding.ts";
import { Problems } from "../problems.ts";
import type { VerbContext } from "../verb.ts";
import { isAsAppended, notAsAppended } from "./event-content.ts";
import type { EventPlace } from "./event-content.ts";
import type { ExpectedLog } from "./expected-log.ts";
import { ExpectedOrder } from "./expected-order.ts";

/** The whole log and every stream of it against what the reference says, as two steps. Resolves with how the whole log was. */
export async function compareLogs(
  context: VerbContext,
  checks: Checks,
  when: string,
  log: EventLog,
  expected: ExpectedLog,
  source: EventSource,
): Promise<Finding> {
  const { clock } = context.host;
  const started = clock.monotonic();
  const whole = await compareWhole(context, log, expected, source);
  const millis = clock.monotonic() - started;
  checks.step({
    name: `the whole log, ${when}`,
    count: whole.count,
    value: perSecond(whole.count, millis),
    unit: "events/s",
    ok: whole.problems.none,
    message: whole.problems.text,
  });
  const streams = await compareStreams(context, log, expected, source);
  checks.step({
    name: `every stream, ${when}`,
    count: streams.count,
    value: expected.streams.length,
    unit: "streams",
    ok: streams.problems.none,
    message: streams.problems.text,
  });
  return whole;
}

/** Forwards with every byte, and backwards the places. */
export async function compareWhole(
  { signal, progress }: VerbContext,
  log: EventLog,
  expected: ExpectedLog,
  source: EventSource,
): Promise<Finding> {
  const problems = new Problems();
  const { position, firstPosition } = log;
  if (position !== expected.position) problems.add(`it ends at position ${position} instead of ${expected.position}`);
  if (firstPosition !== expected.firstPosition) {
    problems.add(`it begins at position ${firstPosition} instead of ${expected.firstPosition}`);
  }
  const total = expected.events.length;
  const count = await compareEvents(log.scan({ signal }), expected.events, problems, source, (read) =>
    progress(read, total),
  );
  await compareBackwards(log.scan({ direction: "backwards", signal }), expected.events, problems);
  return { count, problems };
}

/** Each stream with every byte, and backwards from its end. */
export async function compareStreams(
  { signal }: VerbContext,
  log: EventLog,
  expected: ExpectedLog,
  source: EventSource,
): Promise<Finding> {
  const problems = new Problems();
  let count = 0;
  for (const { info, events } of expected.streams) {
    const { stream } = info;
    const ofStream = new Problems();
    const [said, wanted] = [await log.streamInfo(stream), info].map(shownInfo);
    if (said !== wanted) ofStream.add(`${said} instead of ${wanted}`);
    count += await compareEvents(log.readStream(stream, { signal }), events, ofStream, source);
    await compareBackwards(log.readStream(stream, { direction: "backwards", signal }), events, ofStream);
    if (ofStream.text !== undefined) problems.add(`stream "${stream}": ${ofStream.text}`);
  }
  return { count, problems };
}

/** `source`: the bytes are compared too. */
async function compareEvents(
  stream: EventStream,
  expected: readonly EventPlace[],
  problems: Problems,
  source?: EventSource,
  onRead?: (read: number) => void,
): Promise<number> {
  const order = new ExpectedOrder(expected, problems);
  let time = 0;
  for await (const events of stream.batches()) {
    for (const event of events) {
      order.see(event);
      if (source === undefined) continue;
      if (!isAsAppended(event, source)) problems.add(notAsAppended(event));
      if (event.time < time) problems.add(`position ${event.position}: the time falls`);
      time = event.time;
    }
    onRead?.(order.seen);
  }
  order.finish();
  return order.seen;
}

/** From the end to the beginning: places only. */
async function compareBackwards(
  stream: EventStream,
  expected: readonly EventPlace[],
  problems: Problems,
): Promise<void> {
  const backwards = new Problems();
  await compareEvents(stream, expected.toReversed(), backwards);
  if (backwards.text !== undefined) problems.add(`backwards: ${backwards.text}`);
}

const shownInfo = ({ version, firstVersion, isDeleted }: ExpectedLog["streams"][number]["info"]): string =>
  `version ${version}, the first ${firstVersion}${isDeleted ? ", deleted" : ""}`;
