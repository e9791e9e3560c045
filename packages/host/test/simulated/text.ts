import type { Host, SimulatedHost } from "@ehdb/host";

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A new file with this text, its content and its name durable when asked for. */
export async function createText(
  { files }: Host,
  path: string,
  text: string,
  durable: { content?: boolean; name?: boolean } = {},
): Promise<void> {
  const file = await files.open(path, "create");
  await file.write(bytesOf(text), 0);
  if (durable.content) await file.dataSync();
  await file.close();
  if (durable.name) await files.syncDirectory(path.slice(0, path.lastIndexOf("/")) || "/");
}

/** What is at `path`, or `undefined` when there is nothing. */
export async function textAt(host: SimulatedHost, path: string): Promise<string | undefined> {
  return (await host.files.stat(path)) === undefined ? undefined : textOf(host.content(path));
}

/** The code that `call` rejects or throws with; "resolved" when it doesn't. */
export async function codeFrom(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return "resolved";
}
