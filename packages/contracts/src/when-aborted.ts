interface Listening {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `call` once when `signal` fires; the function that comes back ends that. However many wait for a signal, it gets one
 * listener: Node takes more than ten for a leak, and warns.
 */
export function whenAborted(signal: AbortSignal, call: () => void): () => void {
  const { calls, listener } = listening.get(signal) ?? listen(signal);
  // One of its own, so that the same function may wait twice.
  const own = (): void => call();
  if (calls.size === 0) signal.addEventListener("abort", listener, { once: true });
  calls.add(own);
  return () => {
    if (calls.delete(own) && calls.size === 0) signal.removeEventListener("abort", listener);
  };
}

function listen(signal: AbortSignal): Listening {
  const calls = new Set<() => void>();
  const listener = (): void => {
    const all = [...calls];
    calls.clear();
    for (const call of all) call();
  };
  const entry = { calls, listener };
  listening.set(signal, entry);
  return entry;
}
