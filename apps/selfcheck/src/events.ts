import type { Host } from "@ehdb/host";
import type { EventFields } from "./event-fields.ts";
import { EventSource } from "./event-source.ts";
import { readJsonLines } from "./json-lines.ts";
import { readWebhookExamples } from "./webhook-examples.ts";

export interface EventsOptions extends EventFields {
  readonly seed: number;
  /** How many events are wanted: of a longer input, the first so many lines are kept and the others only checked. */
  readonly events: number;
  /** A file of JSON Lines; default: the payload examples of GitHub's webhooks. */
  readonly input?: string | undefined;
}

export interface Events {
  readonly source: EventSource;
  /** Where the payloads are from, for people. */
  readonly origin: string;
}

/** The same options give the same events, in every process. */
export async function loadEvents(host: Host, options: EventsOptions, signal?: AbortSignal): Promise<Events> {
  if (options.input === undefined) {
    const payloads = readWebhookExamples();
    const origin = `${payloads.length} payloads of GitHub's webhooks, over and over`;
    return { source: new EventSource(options.seed, payloads), origin };
  }
  const { payloads, lines } = await readJsonLines(host, options.input, options.events, options, signal);
  const rest = lines > payloads.length ? `, of which the first ${payloads.length} are used` : "";
  return { source: new EventSource(options.seed, payloads), origin: `${lines} events of ${options.input}${rest}` };
}
