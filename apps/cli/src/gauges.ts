import { prometheusText } from "@ehdb/l0";
import type { StoreFacts } from "@ehdb/l0";

/** What can be told from outside, whoever looks: what a program has counted isn't known here, and isn't said to be 0. */
export interface OutsideFacts {
  readonly revision: number;
  /** Of a store that holds an event log. */
  readonly eventLog?: {
    readonly position: number;
    readonly consumers: readonly { readonly name: string; readonly lag: number }[];
  };
}

/** In the text format 0.0.4; what the engine has, too, is under its names. */
export function gaugesText({ datasets, manifests, journal }: StoreFacts, { revision, eventLog }: OutsideFacts): string {
  const ofFiles = prometheusText({
    manifest_parts: sum(datasets.map(({ parts }) => parts)),
    manifest_versions_retained: manifests.filter(({ isInForce }) => !isInForce).length,
    parts_bytes: sum(datasets.map(({ bytes }) => bytes)),
    journal_bytes: sum(journal.segments.map(({ bytes }) => bytes)),
    manifest_bytes: sum(manifests.map(({ bytes }) => bytes)),
  });
  const last = gauge("ehdb_l0_revision", "The last commit that can be read.", [["", revision]]);
  if (eventLog === undefined) return ofFiles + last;
  const { position, consumers } = eventLog;
  const lags = consumers.map(({ name, lag }) => [`{consumer="${labelled(name)}"}`, lag] as const);
  return [
    ofFiles,
    last,
    gauge("ehdb_eventlog_position", "The last event's position.", [["", position]]),
    gauge("ehdb_eventlog_consumer_lag", "Positions that a consumer hasn't acknowledged yet.", lags),
  ].join("");
}

function gauge(name: string, help: string, samples: readonly (readonly [labels: string, value: number])[]): string {
  if (samples.length === 0) return "";
  const lines = [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...samples.map(([of, value]) => `${name}${of} ${value}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** As the format wants a label's value. */
function labelled(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
