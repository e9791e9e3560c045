import { abortedError, EhdbError } from "@ehdb/contracts";
import type { ErrorCode } from "@ehdb/contracts";
import type { Clock, Timer } from "@ehdb/host";
import type { Waiting } from "./api.ts";
import { refuseUnknown } from "./options.ts";

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
  let onAbort: (() => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    if (signal !== undefined) {
      onAbort = () => reject(abortedError(signal, what));
      signal.addEventListener("abort", onAbort, { once: true });
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
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}

const longestMillis = 2 ** 31 - 1;

/** Throws INVALID_OPTION for an unknown name, and INVALID_ARGUMENT for a timeout that isn't one. */
export function checkWaiting(options: Waiting): void {
  refuseUnknown(options, ["signal", "timeoutMillis"] satisfies (keyof Waiting)[], "");
  const { timeoutMillis } = options;
  if (timeoutMillis === undefined) return;
  if (Number.isFinite(timeoutMillis) && timeoutMillis >= 0 && timeoutMillis <= longestMillis) return;
  const message = `timeoutMillis must be a number from 0 to ${longestMillis}, not ${String(timeoutMillis)}`;
  throw new EhdbError("INVALID_ARGUMENT", message, { timeoutMillis });
}
