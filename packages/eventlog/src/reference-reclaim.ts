import type { ReclaimRequest } from "./call-options.ts";
import type { ReferenceState } from "./reference-state.ts";

/** The first position that anything given keeps; behind the last when nothing does. */
export function firstKept(state: ReferenceState, request: ReclaimRequest, now: number): number {
  const { acknowledged, maxAgeSeconds, maxEvents } = request;
  const { events, consumers, position } = state;
  const kept: number[] = [position + 1];
  if (acknowledged) kept.push(Math.min(...(consumers.size === 0 ? [0] : consumers.values())) + 1);
  if (maxEvents !== undefined) kept.push(position - maxEvents + 1);
  if (maxAgeSeconds !== undefined) {
    const oldest = now - maxAgeSeconds * 1000;
    kept.push(events.find((event) => event.time >= oldest)?.position ?? position + 1);
  }
  return Math.min(...kept);
}
