/** Several writers at once, until they are through. The first error stops them all, and is thrown when they have stopped. */
export async function runWriters(
  writers: number,
  signal: AbortSignal | undefined,
  write: (writer: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const errors: unknown[] = [];
  const all = Array.from({ length: writers }, async (_, writer) => {
    try {
      await write(writer, either);
    } catch (error) {
      errors.push(error);
      stop.abort(error);
    }
  });
  await Promise.all(all);
  if (errors.length > 0) throw errors[0];
}
