import type { DatasetSpec, Expectation, WriteBatch } from "@ehdb/contracts";
import type { PlannedAppend } from "../append-plan.ts";
import type { EventSource } from "../event-source.ts";

/** Two logs and two maps, as tiers have them. */
export const datasets: readonly DatasetSpec[] = [
  { name: "events", order: "by-sort" },
  { name: "audit", order: "by-sort" },
  { name: "latest", order: "by-key" },
  { name: "kinds", order: "by-key" },
];

export interface Expected {
  readonly dataset: "events" | "latest";
  readonly expectation: Expectation;
}

/**
 * What a commit does with its events, known in every process: each is appended under its stream, some are audited, the stream's newest
 * is put, and its type is put or deleted.
 */
export function stageCommit(
  batch: WriteBatch,
  source: EventSource,
  { stream, numbers }: PlannedAppend,
  expected?: Expected,
): void {
  if (expected !== undefined) batch.expect(expected.dataset, stream, expected.expectation);
  for (const number of numbers) {
    const [id, type, bytes] = [source.id(number), source.type(number), source.bytes(number)];
    const text = Buffer.from(id);
    batch.append("events", source.stream(number), bytes, id);
    if (number % 3 === 0) batch.append("audit", type, text, id);
    batch.put("latest", source.stream(number), number % 7 === 0 ? bytes : text);
    if (number % 5 === 0) batch.delete("kinds", type);
    else batch.put("kinds", type, text);
  }
}
