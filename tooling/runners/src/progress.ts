import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  increment(): void;
  stop(): void;
}

export interface ShareBar {
  /** 0 to 1. */
  set(share: number): void;
  stop(): void;
}

/** The same for what isn't counted. */
export function shareBar(what: string): ShareBar {
  if (!process.stderr.isTTY) return { set: () => {}, stop: () => {} };
  const bar = barOf(`{bar} {percentage}% ${what}, {eta_formatted} left`);
  bar.start(1, 0);
  return { set: (share) => bar.update(share), stop: () => bar.stop() };
}

/** On a terminal only: in a log it would be noise. */
export function progressBar(what: string, total: number): Progress {
  if (!process.stderr.isTTY) return { increment: () => {}, stop: () => {} };
  const bar = barOf(`{bar} {value}/{total} ${what}, {eta_formatted} left`);
  bar.start(total, 0);
  return { increment: () => bar.increment(), stop: () => bar.stop() };
}

function barOf(format: string): SingleBar {
  return new SingleBar(
    { format, clearOnComplete: true, hideCursor: true, stream: process.stderr },
    Presets.shades_classic,
  );
}
