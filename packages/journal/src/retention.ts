import type { Retention } from "./api.ts";
import type { Segment } from "./segment.ts";

/** The lowest sequence that every limit still keeps; whole segments go, the newest one never. */
export function retainedFrom(
  segments: readonly Segment[],
  first: number,
  retention: Retention,
  nowMillis: number,
): number {
  const { maxBytes = Infinity, maxRecords = Infinity, maxAgeSeconds = Infinity } = retention;
  let bytes = segments.reduce((sum, segment) => sum + segment.end, 0);
  let from = first;
  for (const [place, segment] of segments.entries()) {
    const successor = segments[place + 1];
    if (successor === undefined) break;
    const records = (segments.at(-1) as Segment).last - from + 1;
    // A segment's last record is no younger than its successor.
    const aged = nowMillis - (segment.lastMillis ?? successor.openedMillis) > maxAgeSeconds * 1000;
    if (bytes <= maxBytes && records <= maxRecords && !aged) break;
    bytes -= segment.end;
    from = Math.max(from, segment.last + 1);
  }
  return from;
}
