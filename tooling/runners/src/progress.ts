import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  increment(): void;
  stop(): void;
}

/** On a terminal only: in a log it would be noise. */
export function progressBar(what: string, total: number): Progress {
  if (!process.stderr.isTTY) return { increment: () => {}, stop: () => {} };
  const format = `{bar} {value}/{total} ${what}, {eta_formatted} left`;
  const bar = new SingleBar(
    { format, clearOnComplete: true, hideCursor: true, stream: process.stderr },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return { increment: () => bar.increment(), stop: () => bar.stop() };
}
