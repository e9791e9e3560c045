import { abortedError, EhdbError, whenAborted } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Clock, Timer } from "@ehdb/host";
import type { Waiting } from "./api.ts";
import { checkOptions, checkTimeout } from "./arguments.ts";

/** Waits for `work`, but no longer than until the signal fires (ABORTED) or the time is up (`code`). The work goes on. */
export async function within<T>(
  clock: Clock,
  work: Promise<T>,
  what: string,
  code: ErrorCode,
  options: Waiting,
): Promise<T> {
  const { signal, timeoutMillis } = options;
  if (signal === undefined && timeoutMillis === undefined) return await work;
  if (signal?.aborted) {
    void work.catch(() => undefined);
    throw abortedError(signal, what);
  }
  let timer: Timer | undefined;
  let stopListening: (() => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    if (signal !== undefined) {
      stopListening = whenAborted(signal, () => reject(abortedError(signal, what)));
    }
    if (timeoutMillis !== undefined) {
      const message = `${what} took longer than the ${timeoutMillis} ms it was given. It goes on in the background; wait longer, or look at the disk`;
      timer = clock.timer(timeoutMillis, () => reject(new EhdbError(code, message, { timeoutMillis })), true);
    }
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    timer?.cancel();
    stopListening?.();
  }
}

/** Waits for `work`, but no longer than it is given; false when the time is up. The work goes on. */
export async function inTime(
  clock: Clock,
  work: Promise<unknown>,
  timeoutMillis: number | undefined,
): Promise<boolean> {
  const done = work.then(() => true);
  if (timeoutMillis === undefined) return await done;
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = clock.timer(timeoutMillis, () => resolve(false), true);
  });
  try {
    return await Promise.race([done, late]);
  } finally {
    timer?.cancel();
  }
}

/** Throws INVALID_OPTION for an unknown name, and INVALID_ARGUMENT for a signal or a timeout that isn't one. */
export function checkWaiting(options: Waiting, known: readonly (keyof Waiting)[] = ["signal", "timeoutMillis"]): void {
  checkOptions(options, known);
  checkTimeout(options.timeoutMillis);
}
